import { setTimeout as sleep } from 'node:timers/promises';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import { createServer } from '../../runtime/core/server.ts';
import { projectOf } from '../graphql/harness.ts';

/** The jobs of the processes that tests kill. A row may be there twice: nothing but the queue prevents it. */
export const SDL = `
  type Done { id: ID! job: Int! pid: Int! }
  type Query { dones: [Done!]! }
`;

const write = (job: number, ctx: any) => ctx.data.done.create({ data: { job, pid: process.pid } });

export const jobs: Record<string, JobOf<any>> = {
  insert: {
    transaction: true,
    attempts: 100,
    run: async ({ data, ctx }) => {
      await write(data.n, ctx);
      if (data.wait) await sleep(data.wait);
    },
  },
  slow: {
    run: async ({ data, ctx, job }) => {
      await write(job.attempt, ctx);
      await sleep(data.wait);
    },
  },
  ...(process.env['EACH_SECOND'] && {
    second: { schedule: '* * * * * *', run: async ({ ctx }: any) => void (await write(0, ctx)) },
  }),
};

if (process.send) {
  const project = projectOf(SDL, 'name: killed\njobs: { concurrency: 10 }\n');
  await createServer({ project, jobs }).serve('127.0.0.1:0');
  process.send('started');
}
