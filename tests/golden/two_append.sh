# Writers without a read between them share a version.
sh -c 'echo one >> log'
env sh -c 'echo two >> log'
cat log > copy
