import { Cluster } from './cluster.ts';
import { startServer } from '../pooler/start-server.ts';
import { load, post } from './load.ts';
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));
const cluster = await Cluster.start();
const s = startServer({ DATABASE_URL: cluster.url }, '../failover/program.ts');
try {
  const url = await s.listening();
  const { id } = (await post(url, 'mutation { createTag(name: "first") { id } }')).data.createTag;
  const running = load(url, id, 8);
  const backs: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    await pause(400 + Math.random() * 400);
    await cluster.kill();
    await pause(Math.random() * 400);
    await cluster.start();
    const t = performance.now();
    await running.success();
    backs.push(performance.now() - t);
  }
  const r = await running.end();
  const texts = new Set((await cluster.ask('select text from notes')).map((x) => x.text));
  const n = (await cluster.ask('select count(*)::int as n from notes'))[0].n;
  console.log({
    kills: backs.length,
    done: r.done.length,
    unknown: r.unknown.length,
    none: r.none.length,
    rows: n,
    distinct: texts.size,
    missing: r.done.filter((t) => !texts.has(t)).length,
    noneInTable: r.none.filter((t) => texts.has(t)).length,
    unknownInTable: r.unknown.filter((t) => texts.has(t)).length,
    reads: r.reads.done,
    readsFailed: r.reads.failed.length,
    wrong: r.wrong.length,
    slowest: Math.round(r.slowest),
    slowestBack: Math.round(Math.max(...backs)),
    lost: s.lines.filter((l) => l['msg']?.startsWith('DATABASE_LOST')).length,
    back: s.lines.filter((l) => l['msg']?.startsWith('DATABASE_BACK')).length,
    exit: s.child.exitCode,
  });
  if (r.reads.failed.length) console.log(r.reads.failed[0]);
  if (r.wrong.length) console.log(r.wrong[0]);
  const counts: Record<string, number> = {};
  for (const l of s.lines) {
    const k = String(l['msg']).slice(0, 60);
    counts[k] = (counts[k] ?? 0) + 1;
  }
  console.log(counts);
  await s.stop();
} catch (e) {
  console.log(e);
} finally {
  s.child.kill('SIGKILL');
  await cluster.drop();
  process.exit(0);
}
