/* SPDX-License-Identifier: MIT */

/* The page of wfreport without its program and style, so that no Node.js is needed. */

#include "dag/report/assets.h"

const char report_frame[] = "\1TITLE\1\1NAV\1\1CHOICE\1\1SECTIONS\1\1VERSION\1";
