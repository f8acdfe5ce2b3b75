import { hash } from 'node:crypto';
import { auth } from '@twofold/auth';
import { createServer, defineApp } from '@twofold/runtime';
import { projectOf } from '../rows.ts';
import { DECLARED, HEADER, HEADER_VALUE, ORIGIN } from '../shape.ts';
import { AUTHORS, initialsOf } from '../workloads.ts';
import type { Start } from './start.ts';

/** This server, as an emitted project runs it. */
export const start: Start = async (databaseUrl, shape) => {
  const app = defineApp({
    project: projectOf(DECLARED[shape]),
    capabilities: shape === 'asRun' ? [auth()] : [],
    resolvers: {
      Query: { authors: () => AUTHORS },
      Author: { md5: ({ name }: { name: string }) => hash('md5', name) },
      User: { initials: ({ name }: { name: string }) => initialsOf(name) },
    },
  });
  process.env['DATABASE_URL'] = databaseUrl;
  process.env['NODE_ENV'] = 'production';
  process.env['LOG_LEVEL'] = 'warn';
  process.env['APP_URL'] = ORIGIN;
  const server = createServer(app);
  if (shape === 'asRun')
    server.use(async (ctx, next) => {
      ctx.set(HEADER, HEADER_VALUE);
      await next();
    });
  const { url } = await server.serve('127.0.0.1:0');
  return Number(new URL(url).port);
};
