/** One server in a process of its own: `node serve.ts <name> <database url> <shape>`. It tells its port, and its figures when asked. */
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Session } from 'node:inspector/promises';
import { contenders } from './servers/index.ts';
import type { Shape } from './shape.ts';

const [name, databaseUrl = '', shape] = process.argv.slice(2);
const contender = contenders.find((candidate) => candidate.name === name);
if (!contender) throw new TypeError(`no server is called ${name}`);

const port = await (await contender.load())(databaseUrl, shape as Shape);
const session = new Session();
process.on(
  'message',
  async ({
    ask,
    file,
  }: {
    ask: 'figures' | 'collect' | 'start profile' | 'stop profile';
    file?: string;
  }) => {
    if (ask === 'start profile') await startProfile();
    if (ask === 'stop profile')
      writeFileSync(file as string, JSON.stringify((await session.post('Profiler.stop')).profile));
    if (ask === 'collect') collect();
    const { user, system } = process.cpuUsage();
    process.send?.({
      cpu: user + system,
      memory: process.memoryUsage.rss(),
      heap: process.memoryUsage().heapUsed,
    });
  },
);
process.on('disconnect', () => process.exit(0));
process.send?.({ port });

async function startProfile(): Promise<void> {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
