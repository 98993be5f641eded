#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report_saved.sh -- a report that was saved as JSON, shown again.
. "$(dirname "$0")/transcript.sh"
pictured=$build/tests/cli/pictured

# same NAME: the text and the values of the last run, and of its JSON.
same()
{
	"$autocast" report --json -o saved.json
	equal "$1: the text is the same" "$("$autocast" report | diff - <("$autocast" report saved.json))" ''
	equal "$1: what is whole in the values is" "$("$autocast" report --csv | cut -d, -f1-18 |
	    diff - <("$autocast" report saved.json --csv | cut -d, -f1-18))" ''
	equal "$1: what the guard did is, in its page" "$("$autocast" report --html | sed -n '/id="events"/,/figure>/p' |
	    diff - <("$autocast" report saved.json --html | sed -n '/id="events"/,/figure>/p'))" ''
	equal "$1: the order is" \
	    "$("$autocast" report --sort gain | diff - <("$autocast" report --sort gain saved.json))" ''
	equal "$1: what a policy would do is" \
	    "$("$autocast" report --policy tf32 | diff - <("$autocast" report --policy tf32 saved.json))" ''
}
"$counting" 0
same 'two sites'
("$counting" kill; :) 2>/dev/null
same 'a killed run'
if [ -x "$pictured" ]; then
	"$pictured" 150 device
	same '150 sites'
	"$pictured" 40
	same 'modelled times'
else
	skip '150 sites' 'tests/cli/pictured is not built'
fi
rm -r "$AUTOCAST_STATE"
"$autocast" report saved.json >out 2>&1
ok 'it needs no run that is kept' $? "$(cat out)"

head -c 3000 saved.json >cut.json
sed 's/"version": 1/"version": 2/' saved.json >new.json
echo '{"version": 1}' >foreign.json
echo 'no JSON' >text.json
mkfifo fifo.json
mkdir folder.json
: >empty.json
"$autocast" report saved.json -o mine.json 2>/dev/null
for file in cut new foreign text fifo folder empty missing; do
	show report $file.json
done
play 9
shown
equal 'what is refused writes nothing' "$(find . -name '*mine*' -o -name '*page*')" ''
plan
