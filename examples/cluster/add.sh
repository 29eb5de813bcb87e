#!/bin/sh
# SPDX-License-Identifier: MIT
#
# add.sh: adds up the counts of all parts.

awk '{ n[$2] += $1 } END { for (word in n) print n[word], word }' count.0 count.1 count.2 >counts
