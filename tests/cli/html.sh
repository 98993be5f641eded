#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# html.sh -- the page of a run: as it is written, and as a browser shows it.
. "$(dirname "$0")/transcript.sh"
pictured=$build/tests/cli/pictured
[ -x "$pictured" ] || skip_all 'tests/cli/pictured is not built'
command -v python3 >/dev/null || skip_all 'there is no python3'
read_page()
{
	python3 "$here/page.py" "$@" 2>&1
}

"$pictured"
"$autocast" report --html -o page.html
"$autocast" report --json -o page.json
equal 'the page is well formed, fetches nothing, and has the numbers of the JSON' \
    "$(read_page check page.html page.json)" ''
equal '--html on stdout is the same' "$("$autocast" report --html | cmp - page.html)" ''
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	said=$(script -qec "'$autocast' report --html" /dev/null </dev/null | tr -d '\r')
	equal 'a terminal is shown no page' "$said" \
	    "autocast: report: a web page is nothing for a terminal; type 'autocast report -o page.html'"
else
	skip 'a terminal is shown no page' 'script(1) gives no terminal here'
fi
sed '/<tbody/s/data value="/&1/' page.html >wrong.html
equal 'numbers that differ are found' "$(read_page check wrong.html page.json |
    grep -c ': calls is ')" 20

AUTOCAST_STATE=$place/device "$pictured" 34 device
AUTOCAST_STATE=$place/device "$autocast" report --html -o device.html
AUTOCAST_STATE=$place/device "$autocast" report --json -o device.json
equal 'so has that of a device' "$(read_page check device.html device.json)" ''
equal 'measured times are called so, estimated ones are not' \
    "$(grep -c 'class="basis">measured' device.html),$(grep -c 'class="basis">measured' page.html),$(grep -c 'class="basis">estimated' page.html)" 2,0,3

# One site, one without any time, none at all.
AUTOCAST_STATE=$place/few "$counting" 0
AUTOCAST_STATE=$place/few "$autocast" report --html -o few.html
AUTOCAST_STATE=$place/few "$autocast" report --json -o few.json
equal 'the page of two sites' "$(read_page check few.html few.json)" ''
"$autocast" run --report nothing.html true 2>/dev/null
equal 'a run that called nothing has a page' \
    "$(grep -c '<h1>Nothing was intercepted</h1>' nothing.html)" 1
"$autocast" run --report run.html "$counting" 0 2>/dev/null
equal 'run --report FILE.html writes one' \
    "$(head -n 1 run.html),$(tail -n 1 run.html)" '<!DOCTYPE html>,</html>'
# Three ranks of a job.
for rank in 0 1 2; do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 PMIX_NAMESPACE=job \
	    AUTOCAST_STATE=$place/job "$pictured" $((30 + 2 * rank))
done
AUTOCAST_STATE=$place/job "$autocast" report --html -o job.html
AUTOCAST_STATE=$place/job "$autocast" report --json -o job.json
equal 'the page of a job has the sums of its ranks' \
    "$(read_page check job.html job.json)" ''
equal 'and each rank' "$(grep -c '>rank [012] on ' job.html),$(
    grep -c 'ranks  *3 of 3, on 1 host' job.html)" 3,1
for other in --json --ranges; do
	"$autocast" report --html $other 2>err
	equal "--html $other is refused" "$?,$(grep -c -e "--html.*$other" err)" \
	    2,1
done

# 10^5 sites: less than 10 MB in less than 2 s of the processor's time.
AUTOCAST_STATE=$place/many "$pictured" 100000
TIMEFORMAT=%U+%S
took=$({ time AUTOCAST_STATE=$place/many "$autocast" report --html -o many.html; } 2>&1)
echo "# $took s"
equal 'a page of 10^5 sites has 10 MB at most' \
    "$(($(wc -c <many.html) <= 10000000 && $(wc -c <many.html) > 9000000))" 1
if [ -n "${SANITIZERS:-}" ]; then
	skip 'it is written in 2 s' 'sanitizers'
else
	equal 'it is written in 2 s' "$(awk "BEGIN { print $took <= 2 }")" 1
fi
equal 'what it has no room for is added up' "$(read_page sums many.html)" ''

if command -v chromium >/dev/null; then
	browser=chromium
elif command -v google-chrome >/dev/null; then
	browser=google-chrome
else
	skip 'what a browser shows' 'neither chromium nor google-chrome'
	plan
	exit
fi
# shown FILE[#FRAGMENT]: the page as it is when its script has run.
dom()
{
	timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu \
	    --disable-dev-shm-usage --user-data-dir="$place/profile" \
	    --virtual-time-budget=4000 --dump-dom "file://$PWD/$1" 2>/dev/null
}

dom page.html >dom.html
equal 'a browser shows the numbers of the JSON' \
    "$(read_page check dom.html page.json)" ''
equal 'its script ran' "$(grep -c 'id="controls">' dom.html)" 1
for key in gain error -error calls -share caller -operation speed; do
	dom "page.html#sort=$key" >dom.html
	order=descending
	case $key in -share | -error | caller) order=ascending ;; esac
	equal "sorted by $key" "$(read_page order dom.html "$key")" \
	    "sorted 34 0 $order"
done
dom 'page.html#sort=calls&filter=tf32' >dom.html
equal 'a filter hides the others' "$(read_page order dom.html calls |
    awk '{ print $1, $2, ($3 > 0 && $3 < $2) }')" 'sorted 34 1'
dom 'page.html#sort=%3Cimg&filter=%' >dom.html
equal 'an address that makes no sense does no harm' \
    "$(read_page check dom.html page.json)" ''
for width in 480 1280; do
	for page in page few job; do
		read_page probe $page.html $width >probe.html
		dom probe.html >dom.html
		equal "$page: nothing is cut and no labels overlap at $width px" \
		    "$(read_page title dom.html | sed 's/, [0-9]* labels//')" fits
	done
done
plan
