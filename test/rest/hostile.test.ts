import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../graphql/random-schema.ts';
import { type Blog, startBlog } from './blog-server.ts';
import { createConformance } from './conformance.ts';
import { databases } from './harness.ts';
import { assertDecent, hostileRequest, sendRaw, wireText } from './hostile.ts';

/** REST_HOSTILE=10000 REST_SEED=7 npx vitest run test/rest/hostile.test.ts for a long run. */
const REQUESTS = Number(process.env['REST_HOSTILE'] ?? 300);
const SEED = Number(process.env['REST_SEED'] ?? 1);

describe.each(databases)('REST among hostile clients on %s', (database) => {
  let blog: Blog;
  beforeAll(async () => void (blog = await startBlog(database)));
  afterAll(() => blog.server.close());

  it(
    'answers any request with what it asked for or with what is wrong with it, and is there afterwards',
    async () => {
      await blog.reset();
      for (const title of ['one', 'two', 'three']) await blog.post(title);
      const random = createRandom(SEED);
      const conforms = createConformance(blog.server.project);
      const statuses = new Map<number, number>();
      for (let index = 0; index < REQUESTS; index++) {
        const request = hostileRequest(random);
        blog.server.lines.splice(0);
        const answer = await sendRaw(blog.server.url, wireText(request));
        assertDecent(request, answer, { seed: SEED, index, database, log: blog.server.lines });
        // A path with an empty part, a dot or a fragment is another to the document than to the router.
        if (!/\/\/|\.|%2e|#/i.test(request.target))
          conforms({
            method: request.method,
            path: request.target.split('?')[0] as string,
            status: answer.status,
            body: /json/.test(answer.head) && answer.body !== '' ? JSON.parse(answer.body) : null,
          });
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
      if (process.env['REST_HOSTILE'])
        console.log(
          database,
          REQUESTS,
          'requests, seed',
          SEED,
          Object.fromEntries([...statuses].sort()),
        );
      // Some went through, some were refused for each reason.
      for (const status of [200, 400, 404, 405])
        expect([status, (statuses.get(status) ?? 0) > 0, [...statuses]]).toEqual([
          status,
          true,
          expect.anything(),
        ]);
      expect((await blog.server.get('/api/posts?limit=1')).status).toBe(200);
    },
    30 * 60_000,
  );
});
