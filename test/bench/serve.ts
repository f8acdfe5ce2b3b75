/** One server in a process of its own: `node serve.ts <name> <database url>`. It tells its port, and its figures when asked. */
import { contenders } from './servers/index.ts';

const [name, databaseUrl = ''] = process.argv.slice(2);
const contender = contenders.find((candidate) => candidate.name === name);
if (!contender) throw new TypeError(`no server is called ${name}`);

const port = await (await contender.load())(databaseUrl);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, memory: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port });
