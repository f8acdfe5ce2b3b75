import { chromium as browsers } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { end, type Program, run } from '../server/program.ts';
import { readStream } from './event-stream.ts';
import { OPERATOR } from './server.ts';

const PROGRAM = `
  import { createServer } from '@twofold/runtime';
  import { auth } from '@twofold/auth';
  import { webConsole } from '@twofold/console/server';
  import { pid } from 'node:process';
  const begin = ({ log }) => {
    let count = 0;
    setInterval(() => log.info({ pid, count: (count += 1) }, 'tick'), 100).unref();
  };
  await createServer()
    .schema('type User { id: ID! email: String! @unique } type Query { pid: Int! }', 'name: ticking\\nauth: {}\\nconsole: {}')
    .with(auth(), webConsole())
    .plugin({ name: 'tick', resolvers: { Query: { pid: () => pid } }, hooks: { start: begin } })
    .serve();
`;

const ENV = {
  DATABASE_URL: 'file:ticking.db',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
  JWT_SECRET: 'a test secret that is long enough to be one',
  HOST_PASSWORD: OPERATOR,
  RATE_LIMIT_ENABLED: 'false',
  UV_THREADPOOL_SIZE: '4',
};

const login = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ password: OPERATOR }),
  });
  return ((await response.json()) as { token: string }).token;
};

const read = async (url: string, token: string, path: string): Promise<any> =>
  (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } })).json();

describeWith('chromium', 'the log over a restart (acceptance 9)', () => {
  it('goes on by itself: no line doubled, and the new process from its first', async () => {
    let program: Program = run(PROGRAM, { ...ENV, PORT: '0' });
    const browser = await browsers.launch({
      executablePath: chromium ?? '',
      args: ['--no-sandbox'],
    });
    try {
      const url = await program.listening;
      const page = await browser.newPage({ viewport: { width: 1200, height: 3000 } });
      await page.goto(`${url}/console/logs`);
      await page.getByLabel('Password').fill(OPERATOR);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const ticks = async () =>
        (await page.getByRole('log').locator('.log-text').allTextContents()).flatMap((text) => {
          const [, pid, count] = /^tick {2}pid=(\d+) {2}count=(\d+)/.exec(text) ?? [];
          return pid === undefined ? [] : [`${pid}:${count}`];
        });
      await vi.waitFor(async () => expect((await ticks()).length).toBeGreaterThan(5), 15_000);
      const old = program.process.pid;
      program.process.kill('SIGKILL');
      await program.ended;
      program = run(PROGRAM, { ...ENV, PORT: new URL(url).port }, program.folder);
      await program.listening;
      const listening = performance.now();
      const next = program.process.pid;
      const ofNext = async () => (await ticks()).filter((tick) => tick.startsWith(`${next}:`));
      await vi.waitFor(async () => expect((await ofNext()).length).toBeGreaterThan(5), 15_000);
      expect(performance.now() - listening).toBeLessThan(3000);
      const seen = await ticks();
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((tick) => tick.startsWith(`${old}:`))).toContain(`${old}:1`);
      const after = await ofNext();
      expect(after).toEqual(after.map((_, at) => `${next}:${at + 1}`));
    } finally {
      await browser.close();
      await end(program);
    }
  });
});

it('has the lines and the figures of all workers, and counts the readers of all', async () => {
  const program = run(PROGRAM, { ...ENV, PORT: '0', WORKERS: '2' });
  try {
    const url = await program.listening;
    const token = await login(url);
    const stream = await readStream(`${url}/api/system/logs?limit=1000`, token);
    const pids = () =>
      new Set(stream.lines().flatMap(({ fields }) => (fields.pid ? [fields.pid] : [])));
    await stream.until(() => pids().size === 2);
    const ids = stream.lines().map(({ id }) => Number(id.split('-')[1]));
    expect(ids).toEqual(ids.map((_, at) => ids[0]! + at));
    for (let count = 0; count < 6; count += 1)
      expect((await read(url, token, '/api/system/info')).log_followers).toBe(1);
    const { lines } = await read(url, token, '/api/system/logs?q=tick&limit=1000');
    expect(new Set(lines.map(({ fields }: any) => fields.pid))).toEqual(pids());
    const { series } = await read(url, token, '/api/system/metrics?range=15m');
    const memory = series.find(({ name }: any) => name === 'memory').points.at(-1)[1];
    expect(memory).toBeGreaterThan(100e6);
    await stream.close();
    await vi.waitFor(
      async () => expect((await read(url, token, '/api/system/info')).log_followers).toBe(0),
      1000,
    );
  } finally {
    await end(program);
  }
});
