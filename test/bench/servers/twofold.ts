import { hash } from 'node:crypto';
import { createServer, defineApp } from '@twofold/runtime';
import { projectOf } from '../database.ts';
import { AUTHORS, initialsOf, SDL } from '../workloads.ts';
import type { Start } from './start.ts';

/** This server, as an emitted project runs it. */
export const start: Start = async (databaseUrl) => {
  const app = defineApp({
    project: projectOf(SDL),
    resolvers: {
      Query: { authors: () => AUTHORS },
      Author: { md5: ({ name }: { name: string }) => hash('md5', name) },
      User: { initials: ({ name }: { name: string }) => initialsOf(name) },
    },
  });
  process.env['DATABASE_URL'] = databaseUrl;
  process.env['NODE_ENV'] = 'production';
  process.env['LOG_LEVEL'] = 'warn';
  const { url } = await createServer(app).serve('127.0.0.1:0');
  return Number(new URL(url).port);
};
