/** The benchmark's server with more types than it needs: `node grown.ts <types> <database url>`. */
import { createServer, defineApp } from '@twofold/runtime';
import { projectOf } from './rows.ts';
import { SDL } from './workloads.ts';

const [types = '10', databaseUrl = ''] = process.argv.slice(2);
const more = Array.from(
  { length: Math.max(0, Number(types) - 5) },
  (_, index) => `type Value${index} { a: String! b: Int c${index}: [String!]! }\n`,
).join('');
const fields = Array.from(
  { length: Math.max(0, Number(types) - 5) },
  (_, index) => `  value${index}: Value${index}\n`,
).join('');
const sdl = SDL.replace('  authors: [Author!]!\n', `  authors: [Author!]!\n${fields}`) + more;
Object.assign(process.env, {
  DATABASE_URL: databaseUrl,
  NODE_ENV: 'production',
  LOG_LEVEL: 'warn',
});
const { url } = await createServer(defineApp({ project: projectOf({ sdl }) })).serve('127.0.0.1:0');
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: Number(new URL(url).port) });
