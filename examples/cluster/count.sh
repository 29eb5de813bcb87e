#!/bin/sh
# SPDX-License-Identifier: MIT
#
# count.sh NUMBER: counts the words of a part of the text.

tr -cs 'A-Za-z' '\n' <"part.$1" | sort | uniq -c >"count.$1"
