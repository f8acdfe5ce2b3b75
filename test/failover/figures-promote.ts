import { Cluster } from './cluster.ts';
import { startServer } from '../pooler/start-server.ts';
import { load, post } from './load.ts';
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));
for (let round = 0; round < 3; round++) {
  const one = await Cluster.start();
  const two = await one.standby([
    `primary_conninfo = 'host=127.0.0.1 port=${one.port} user=postgres application_name=two'`,
  ]);
  await one.ask(`alter system set synchronous_standby_names = 'two'`);
  await one.ask('select pg_reload_conf()');
  await pause(500);
  const s = startServer(
    { DATABASE_URL: `postgres://postgres@127.0.0.1:${one.port},127.0.0.1:${two.port}/postgres` },
    '../failover/program.ts',
  );
  try {
    const url = await s.listening();
    const { id } = (await post(url, 'mutation { createTag(name: "first") { id } }')).data.createTag;
    const running = load(url, id, 8);
    await pause(1500);
    await one.kill();
    await two.promote();
    const t = performance.now();
    await running.success();
    const back = performance.now() - t;
    await pause(500);
    const r = await running.end();
    const texts = new Set((await two.ask('select text from notes')).map((x) => x.text));
    console.log({
      done: r.done.length,
      unknown: r.unknown.length,
      none: r.none.length,
      rows: texts.size,
      missing: r.done.filter((x) => !texts.has(x)).length,
      noneInTable: r.none.filter((x) => texts.has(x)).length,
      readsFailed: r.reads.failed.length,
      wrong: r.wrong[0],
      slowest: Math.round(r.slowest),
      back: Math.round(back),
      log: s.lines.map((l) => l['msg']).filter((m) => /LOST|BACK/.test(m)),
    });
    await s.stop();
  } catch (e) {
    console.log(e);
  } finally {
    s.child.kill('SIGKILL');
    await two.drop();
    await one.drop();
  }
}
process.exit(0);
