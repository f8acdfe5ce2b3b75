/**
 * What hosting costs, beside what others cost in the same run: `npm run bench:hosting`, with the engines of `test/engines`
 * for the parts that deploy; `wrk`, `h2load`, `caddy`, `nginx` and `haproxy` are used when they are installed. What it says is
 * explained in hosting.md. `ingress`, `features`, `docker` or `podman` as
 * arguments run only these, and a number is how many apps are listed instead of 200.
 */
import { cpus } from 'node:os';
import { engines } from '../engines/available.ts';
import { benchEngine } from './hosting-engine.ts';
import { benchFeatures } from './hosting-features.ts';
import { benchIngress } from './hosting-ingress.ts';
import { load, say } from './hosting-report.ts';

const words = process.argv.slice(2);
const wanted = words.filter((word) => !/^\d+$/.test(word));
const apps = Number(words.find((word) => /^\d+$/.test(word)) ?? 200);
const runs = (name: string) => wanted.length === 0 || wanted.includes(name);
const began = Date.now();

say(`${cpus().length} cores, ${load()}`);
if (runs('ingress')) {
  say('\n## ingress\n');
  await benchIngress();
}
if (runs('features')) {
  say('\n## HTTP/2, compression, access log and limit\n');
  await benchFeatures();
}
for (const engine of engines) if (runs(engine.kind)) await benchEngine(engine, apps);
if (engines.length === 0) say('\nno engine: eval "$(npx node test/engines/start.ts)" starts them');
say(`\n${Math.round((Date.now() - began) / 1000)} s, ${load()}`);
process.exit(0);
