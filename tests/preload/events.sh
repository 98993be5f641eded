#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the guard did and when, in JSON and in the log, of a program whose data
# turn bad.
. "$(dirname "$0")/preload.sh"
need_emulator
under 'gemm -> fp16 profit=off' "$clients/turning" 1 300 >/dev/null 2>&1
equal 'all of them are of sites of the report' '0 True' \
    "$(query 'report["lost_events"], {e["site"] for e in report["events"]} <= {
    s["id"] for s in sites}')"
equal 'a rung is chosen, then left' \
    'chosen demoted' "$(query '" ".join([e["kind"]
    for e in report["events"] if e["kind"] in ("chosen", "demoted")
    and e["rung"] == "fp16" and e["site"] == [e["site"]
    for e in report["events"] if e["kind"] == "demoted"][0]][:2])')"
equal 'the call that was found out comes after the choice' True \
    "$(query 'all(a["call"] <= b["call"] for a, b in zip(report["events"],
    report["events"][1:]) if a["site"] == b["site"] and "worst" not in (a["kind"], b["kind"]))')"
site=$(query '[e["site"] for e in report["events"] if e["kind"] == "demoted"][0]')
told=$("$build/autocast" explain "$site" | grep '^at call ')
equal 'explain tells the last six of a site' "$(query '"\n".join(
    "%s" % e["call"] for e in [e for e in report["events"]
    if e["site"] == sys.argv[1]][-6:])' "$site")" \
    "$(echo "$told" | sed 's/^at call \([0-9]*\): .*/\1/')"
equal 'and what they were' 1 "$(echo "$told" |
    grep -c '^at call [0-9]*: demoted from fp16: [a-z]')"
equal 'its calls are those of all its rungs' "$(query '"%d of %d" % tuple(sum(s[k]
    for s in sites if s["id"] == sys.argv[1]) for k in ("recast_calls", "calls"))' "$site")" \
    "$("$build/autocast" explain "$site" | sed -n 's/^then: .*; recast \(.*\) calls$/\1/p')"
rm -rf "$AUTOCAST_STATE"
under 'gemm -> fp16 profit=off guard=on' "$clients/course" good:10 cancelling:1100 \
    >/dev/null 2>&1
equal 'it serves again a thousand calls later' 'demoted retried demoted' \
    "$(query '" ".join(e["kind"] for e in report["events"]
    if e["kind"] in ("demoted", "retried"))')"
equal 'as many as the totals count' 2 "$(total totals.demotions)"

# AUTOCAST_LOG=info: the same decisions, as lines.
rm -rf "$AUTOCAST_STATE"
said=$(AUTOCAST_LOG=info under 'gemm -> fp16 profit=off' "$clients/turning" 1 \
    300 2>&1 >/dev/null)
equal 'each site has one line when it is new' \
    "$(query 'len({s["id"] for s in sites})')" \
    "$(grep -c ' in turning+[0-9a-f]*: fp16 cast, by AUTOCAST_POLICY:1' <<<"$said")"
equal 'each event but worse samples is a line, at its call' \
    "$(query '"\n".join(sorted("site %s, %d" % (e["site"], e["call"])
    for e in report["events"] if e["kind"] != "worst"))')" \
    "$(sed -n 's/^autocast: \(site [0-9a-f]*,\).*, call \([0-9]*\): .*/\1 \2/p' \
    <<<"$said" | sort)"
equal 'and why a rung is left is said' \
    "$(query 'sum(e["kind"] == "demoted" for e in report["events"])')" \
    "$(grep -c 'fp16 cast is left: ' <<<"$said")"
equal 'a kept site says its reason' 1 \
    "$(AUTOCAST_LOG=info under off "$clients/gemm_client" sgemm n t 96 80 256 0 0 \
    0 1 1 0 normal 1 - repeat=20 2>&1 >/dev/null | grep -c '^autocast: site .*: kept: ')"
equal 'nothing of it by default' '' \
    "$(under 'gemm -> fp16 profit=off' "$clients/turning" 1 300 2>&1 >/dev/null)"
equal 'another word is said once, and means the default' \
    'autocast: AUTOCAST_LOG=inof is none of off, error, warning, info, debug: warning is taken' \
    "$(AUTOCAST_LOG=inof under 'gemm -> fp16 profit=off' "$clients/turning" 1 300 2>&1 >/dev/null)"
plan
