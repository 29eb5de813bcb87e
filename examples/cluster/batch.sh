#!/bin/sh
# SPDX-License-Identifier: MIT
#
# batch.sh TRACED: a job of Slurm, with a step of its own: adds up what the parts had, and takes the most frequent words.

"$1" "${1%/*}/add.sh"
srun -N1 -n1 "$1" sh -c 'sort -rn counts | head >frequent'
