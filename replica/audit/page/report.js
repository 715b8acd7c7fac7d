// The report of an audit: draws what stands in it as data, and says what is known of an op that is opened.

const data = JSON.parse(document.getElementById("data").textContent);
const panel = document.getElementById("op");

/** What stands in the columns of an op that is on its chain. */
function found(replica, seq) {
  const at = data.lanes.findIndex((lane) => lane.replica === replica);
  const index = firstAtLeast(drawn.lanes[at].seq, seq);
  return { at, index, lane: drawn.lanes[at] };
}

function open({ replica, seq, hash }) {
  const { at, index, lane } = found(replica, seq);
  const facts = [["Replica", replica], ["Whose", lane.name], ["Op", String(seq)]];
  if (hash === undefined) {
    facts.push(["Type", data.types[lane.type[index]]], ["Time", moment(lane.ms[index], true)]);
    facts.push(["Hash", `${data.hashes[at].slice(index * 16, index * 16 + 16)}…`]);
    const to = data.to[lane.to[index]].map((each) => `${drawn.lanes[each].name} (${drawn.lanes[each].replica})`);
    if (to.length) facts.push(["Sealed to", to.join(", ")]);
    if (lane.grade[index] & GRADE.stub) facts.push(["Content", "pruned: a stub, which verifies"]);
    if (lane.grade[index] & GRADE.cut) facts.push(["Effect", "none: it is past its replica's cut"]);
  } else {
    const rival = lane.rivals.find((each) => each.hash === hash);
    facts.push(["Type", rival.type], ["Time", moment(rival.ms, true)], ["Hash", hash]);
    facts.push(["Effect", "none: its key signed several ops for this place"]);
  }
  for (const fault of lane.faults) if (fault.seq === seq) facts.push(["Fault", fault.text]);
  facts.push(["All of it", `dmp op show ${replica} ${seq}`]);
  const list = document.createElement("dl");
  for (const [name, text] of facts) list.append(made("dt", "", name), made("dd", "", shown(text)));
  panel.replaceChildren(made("h3", "", `Op ${seq} of ${replica}`), list);
  panel.hidden = false;
}

const drawn = new Lanes(document.getElementById("lanes"), data, { open });
window.lanes = drawn; // for whoever looks into it with the browser's tools

for (const each of document.querySelectorAll("time")) {
  each.dateTime = each.title = each.textContent;
  each.textContent = moment(Date.parse(each.dateTime));
}
document.getElementById("zone").textContent = "Times are in your own zone; under the pointer they are exact, in UTC.";
