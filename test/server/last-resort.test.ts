import { afterEach, describe, expect, it } from 'vitest';
import { end, type Program, run } from './program.ts';

const PROGRAM = `
import { createServer } from '@twofold/runtime';
await createServer()
  .schema('type User { id: ID! name: String! } type Query { users: [User!]! }')
  .use(async (ctx, next) => {
    const trouble = new Error('trouble of the test', { cause: new Error('its cause') });
    if (ctx.path === '/reject') Promise.reject(trouble);
    if (ctx.path === '/throw') setImmediate(() => { throw trouble; });
    if (ctx.path === '/slow') await new Promise((resolve) => setTimeout(resolve, 300));
    if (ctx.path.length > 1) ctx.body = 'ok';
    else await next();
  })
  .serve(':0');
`;

const programs: Program[] = [];
afterEach(async () => void (await Promise.all(programs.splice(0).map(end))));

const lines = (program: Program) =>
  program
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, any>);

describe('the last resort', () => {
  it('a rejected promise that nothing awaits is in the log with stack and cause, and the server goes on', async () => {
    const program = run(PROGRAM, { DATABASE_URL: ':memory:', LOG_FORMAT: 'json' });
    programs.push(program);
    const url = await program.listening;
    expect((await fetch(`${url}/reject`)).status).toBe(200);
    await expect
      .poll(() =>
        lines(program).find(({ msg }) => msg === 'a promise was rejected and nothing awaited it'),
      )
      .toMatchObject({
        level: 50,
        stack: expect.stringContaining('trouble of the test'),
        cause: expect.stringContaining('its cause'),
      });
    expect((await fetch(`${url}/fine`)).status).toBe(200);
  });

  it('an exception that nothing catches is in the log; running requests are answered, and the exit code is 1', async () => {
    const program = run(PROGRAM, { DATABASE_URL: ':memory:', LOG_FORMAT: 'json' });
    programs.push(program);
    const url = await program.listening;
    const slow = fetch(`${url}/slow`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await fetch(`${url}/throw`);
    expect(await program.ended).toBe(1);
    expect((await slow).status).toBe(200);
    expect(lines(program).at(-1)).toMatchObject({
      level: 60,
      msg: 'an exception was not caught: the server stops',
      stack: expect.stringContaining('trouble of the test'),
    });
  });
});
