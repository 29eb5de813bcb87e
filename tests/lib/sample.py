# SPDX-License-Identifier: MIT
"""What is exhaustive: a case takes a random sample of it, or all of it with the word --long.

The seed of the sample is printed; $FTRAC_SEED repeats one.
"""
import functools
import os
import random
import sys

LONG = "--long" in sys.argv[1:]
sys.argv[1:] = [word for word in sys.argv[1:] if word != "--long"]


@functools.cache
def rng():
    """The random numbers of all samples of this process."""
    seed = int(os.environ.get("FTRAC_SEED") or random.SystemRandom().randrange(10**6))
    print(f"a sample: FTRAC_SEED={seed} repeats it, --long takes all", flush=True)
    return random.Random(seed)


def some(items, part):
    """One of so many parts of the items, at least one item, in their order; all of them in a long run."""
    items = list(items)
    if LONG or part <= 1 or not items:
        return items
    chosen = set(rng().sample(range(len(items)), -(-len(items) // part)))
    return [item for i, item in enumerate(items) if i in chosen]


def one(items):
    """One of the items, as a list; all of them in a long run."""
    items = list(items)
    return some(items, len(items))
