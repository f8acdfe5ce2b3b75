/** The benchmark's server as a program, with a search, and as many workers as WORKERS says: `node workers.ts <database url>`. */
import { createServer, defineApp } from '@twofold/runtime';
import { projectOf } from './rows.ts';
import { SDL } from './workloads.ts';

const SEARCHED = `${SDL.replace('posts(limit: Int)', 'posts(limit: Int, where: PostFilter)')}
input PostFilter {
  body: TextFilter
}

input TextFilter {
  contains: String
}
`;

Object.assign(process.env, {
  DATABASE_URL: process.argv[2],
  NODE_ENV: 'production',
  LOG_LEVEL: 'info',
});
await createServer(defineApp({ project: projectOf({ sdl: SEARCHED }) })).serve('127.0.0.1:0');
