/* Order and filter of the table of sites. What is asked for stands in the
 * page's address: x.html#sort=error&filter=fp16; -error turns the order. */
(function () {
	"use strict";
	var table = document.getElementById("sites");
	if (!table)
		return;
	var heads = Array.from(table.tHead.rows[0].cells);
	var bodies = Array.from(table.tBodies);
	var foot = table.tFoot;
	var filter = document.getElementById("filter");
	var details = document.getElementById("details");
	var found = document.getElementById("found");
	var asked = { sort: "", filter: "" };

	/* A number, or words; what is not there comes last either way. */
	function value(body, column) {
		var cell = body.rows[0].cells[column];
		var data = cell.querySelector("data");
		if (data)
			return Number(data.value);
		return cell.textContent === "\u2013" ? null : cell.textContent;
	}

	function sort(key) {
		var up = key[0] === "-";
		var column = heads.findIndex(function (head) {
			return head.dataset.key === key.replace("-", "");
		});
		if (column < 0)
			return;
		var rows = bodies.map(function (body, at) {
			return { body: body, at: at, value: value(body, column) };
		});
		rows.sort(function (a, b) {
			if (a.value === null || b.value === null)
				return (a.value === null) - (b.value === null) ||
				    a.at - b.at;
			if (typeof a.value === "string")
				return a.value.localeCompare(b.value) *
				    (up ? -1 : 1) || a.at - b.at;
			return (b.value - a.value) * (up ? -1 : 1) || a.at - b.at;
		});
		rows.forEach(function (row) {
			table.insertBefore(row.body, foot);
		});
		heads.forEach(function (head, i) {
			head.removeAttribute("aria-sort");
			if (i === column)
				head.setAttribute("aria-sort", (typeof
				    rows[0].value === "string") === up ?
				    "descending" : "ascending");
		});
		asked.sort = key;
	}

	function choose(words) {
		var all = words.toLowerCase().split(/\s+/);
		var count = 0;
		bodies.forEach(function (body) {
			var text = body.textContent.toLowerCase();
			body.hidden = !all.every(function (word) {
				return text.indexOf(word) >= 0;
			});
			count += !body.hidden;
		});
		asked.filter = words;
		found.textContent = words ? count + " of " + bodies.length : "";
	}

	function remember() {
		var parts = Object.keys(asked).filter(function (name) {
			return asked[name];
		}).map(function (name) {
			return name + "=" + encodeURIComponent(asked[name]);
		});
		try {
			history.replaceState(null, "", "#" + parts.join("&"));
		} catch (e) {
			/* A page without an address works all the same. */
		}
	}

	function obey() {
		var hash = location.hash.slice(1);
		if (hash.indexOf("=") < 0)
			return;
		hash.split("&").forEach(function (part) {
			var at = part.indexOf("="), word;
			try {
				word = decodeURIComponent(part.slice(at + 1));
			} catch (e) {
				return;
			}
			if (part.slice(0, at) === "sort")
				sort(word);
			if (part.slice(0, at) === "filter")
				choose(filter.value = word);
		});
	}

	heads.forEach(function (head) {
		var button = document.createElement("button");
		button.type = "button";
		button.textContent = head.textContent;
		head.textContent = "";
		head.appendChild(button);
		button.addEventListener("click", function () {
			var key = head.dataset.key;
			sort(asked.sort === key ? "-" + key : key);
			remember();
		});
	});
	filter.addEventListener("input", function () {
		choose(filter.value);
		remember();
	});
	details.addEventListener("change", function () {
		table.classList.toggle("short", !details.checked);
	});
	document.getElementById("controls").hidden = false;
	window.addEventListener("hashchange", obey);
	obey();
})();
