/** The benchmark's server as a program, with as many workers as WORKERS says: `node workers.ts <database url>`. */
import { createServer, defineApp } from '@twofold/runtime';
import { projectOf } from './database.ts';
import { SDL } from './workloads.ts';

Object.assign(process.env, { DATABASE_URL: process.argv[2], NODE_ENV: 'production', LOG_LEVEL: 'info' });
await createServer(defineApp({ project: projectOf(SDL) })).serve('127.0.0.1:0');
