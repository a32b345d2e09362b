// node bench_pick.js SETS: picks of minisearch and wink-bm25-text-search, with
// their defaults, over name and description: {"scorer": {"set": [[name...]]}}.
const fs = require('fs');
const MiniSearch = require('minisearch');
const wink = require('wink-bm25-text-search');
const words = require('wink-nlp-utils');

const sets = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const out = {minisearch: {}, wink: {}}, seconds = {minisearch: 0, wink: 0};

for (const [name, {tools, queries}] of Object.entries(sets)) {
  const mini = new MiniSearch({fields: ['name', 'description']});
  mini.addAll(tools.map((t, id) => ({id, ...t})));
  const bm25 = wink();
  bm25.defineConfig({fldWeights: {name: 1, description: 1}});
  bm25.definePrepTasks([
    words.string.lowerCase, words.string.tokenize0,
    words.tokens.removeWords, words.tokens.stem,
    words.tokens.propagateNegations]);
  tools.forEach((t, id) => bm25.addDoc(
    {name: t.name || '-', description: t.description || '-'}, id));
  bm25.consolidate();
  const ask = {
    minisearch: q => mini.search(q).slice(0, 5).map(r => r.id),
    wink: q => bm25.search(q, 5).map(r => Number(r[0])),
  };
  for (const scorer in ask) {
    const start = process.hrtime.bigint();
    out[scorer][name] = queries.map(q => ask[scorer](q).map(
      id => tools[id].name));
    seconds[scorer] += Number(process.hrtime.bigint() - start) / 1e9;
  }
}
console.log(JSON.stringify({picks: out, seconds}));
