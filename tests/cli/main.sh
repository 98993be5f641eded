#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# main.sh -- verbs: known, unknown, missing; help comes from the table.
. "$(dirname "$0")/transcript.sh"

show
show --help
show help rnu
show run --help
show report --help
show explain -h
show policy --help
show report --live --help
show policy validate --help
show rnu
show stat ./x
show ./x
show -- x y
show reprot
show frobnicate
show autotune ./x
show tune
show bisect ./x
show version
show -V
show --frobnicate
show --policy fp16 run x
show --policy=fp16 x
show --json report
show list
show path
show watch 3
show validate ./x
show report --json --live
show policy where --library surprise
show policy --library
show policy show --library
show explain --rates gemm.single
shown

for verb in '' run 'report --live'; do
	# shellcheck disable=SC2086 # words
	equal "help $verb" "$("$autocast" help $verb)" "$("$autocast" $verb --help)"
done
equal '--version names the program' \
    "$("$autocast" --version | sed 's/[0-9.]*$/N/')" 'autocast N'
"$autocast" --help >/dev/full 2>/dev/null
equal 'a full disk is a failure' $? 125
plan
