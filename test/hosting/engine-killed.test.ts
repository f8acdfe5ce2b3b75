import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeployStep, OnStep } from '../../runtime/hosting/host/steps.ts';
import { describeEachEngine } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { type KillableEngine, startKillableEngine } from './killable-engine.ts';
import { startServer, token, type TestServer } from './server.ts';

/** The engine dies after this step of the next deployment. */
interface Fatal {
  step: DeployStep | null;
}

describeEachEngine('an engine that is killed and started again', ({ kind }) => {
  const fatal: Fatal = { step: null };
  let engine: KillableEngine;
  let server: TestServer;
  let instance = '';
  /** The server's log. */
  const said: string[] = [];
  let names = 0;
  /** A test that is tried again has an app of its own each time. */
  const fresh = (word: string) => `${word}-${(names += 1)}`;

  beforeAll(async () => {
    engine = await startKillableEngine(kind);
    await importImage(engine.socket, 'twofold-test/web:1');
    const onStep = (step: Parameters<OnStep>[0]) => {
      if (fatal.step !== step) return;
      fatal.step = null;
      engine.kill();
    };
    server = await startServer({
      socket: engine.socket,
      onStep,
      logTo: { write: (line) => void said.push(line) },
    });
    instance = (
      await server.kernel.store.db
        .selectFrom('hosting_settings')
        .select('value')
        .where('key', '=', 'instance')
        .executeTakeFirstOrThrow()
    )['value'] as string;
  });
  afterAll(async () => {
    await server?.end();
    await engine?.end();
  });

  const health = async () => (await server.api('GET', '/api/health')).body.podman;
  const back = async () => {
    await engine.restart();
    await expect.poll(health, { timeout: 60_000 }).toBe('connected');
  };
  const app = async (name: string) => (await server.api('GET', `/api/apps/${name}`)).body;
  const page = async (name: string) => (await server.visit(`${name}.apps.test`)).text;
  const source = (text: string) =>
    tarGzOf({
      Dockerfile: 'FROM docker.io/twofold-test/web:1\nCOPY index.html /www/index.html\n',
      'index.html': text,
    });
  const deploy = (name: string, text: string) =>
    server.api('POST', '/api/deploy?wait=true', sourceForm({ name, port: 8080 }, source(text)));
  const made = async (name: string, text: string) => {
    const { status, body } = await deploy(name, text);
    expect([status, body.error ?? null]).toEqual([200, null]);
  };
  const containersOf = async (name: string) => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.instance=${instance}`] }));
    const all = await engineJson<{ Labels: Record<string, string>; State: string }[]>(
      engine.socket,
      { path: `/containers/json?all=1&filters=${filters}` },
    );
    return all
      .filter(({ Labels }) => Labels['twofold.name'] === name)
      .map(({ Labels, State }) => [Number(Labels['twofold.deployment']), State]);
  };
  const tagsOf = async (name: string) => {
    const images = await engineJson<{ RepoTags: string[] | null }[]>(engine.socket, {
      path: '/images/json',
    });
    return images
      .flatMap(({ RepoTags }) => RepoTags ?? [])
      .filter((tag) => tag.startsWith(`localhost/twofold-${instance}/${name}:`))
      .map((tag) => Number(tag.split(':')[1]))
      .sort((a, b) => a - b);
  };
  /** What is so of an app, on the record and on the engine. */
  const stateOf = async (name: string) => {
    const { status, deployment } = await app(name);
    const { deployments } = (await server.api('GET', `/api/apps/${name}/deployments`)).body;
    return {
      status,
      deployment,
      records: deployments.map(({ number, status: one, current }: any) => [number, one, current]),
      containers: await containersOf(name),
      tags: await tagsOf(name),
    };
  };
  /** The last of those that served does; all others that were begun have failed, and left nothing. */
  const whole = (served: readonly number[], last: number) => {
    const serves = served.at(-1) as number;
    const recordOf = (number: number) => [
      number,
      number === serves ? 'healthy' : served.includes(number) ? 'superseded' : 'failed',
      number === serves,
    ];
    const records = Array.from({ length: last }, (_, index) => recordOf(last - index));
    return {
      status: 'running',
      deployment: serves,
      records,
      containers: [[serves, 'running']],
      tags: served,
    };
  };

  const warnings = () =>
    said
      .map((line) => JSON.parse(line) as { level: number; msg?: string })
      .filter(({ level }) => level >= 40)
      .map(({ msg }) => msg);
  /** Comes to be so; what it is instead is said in full, with what the server has said last. */
  const settles = async (name: string, wanted: ReturnType<typeof whole>) => {
    let seen: unknown;
    const look = async () => (seen = await stateOf(name));
    await expect
      .poll(look, { timeout: 45_000, interval: 250 })
      .toEqual(wanted)
      .catch((cause: unknown) => {
        throw new Error(
          `it is ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}, and the server said ${JSON.stringify(warnings().slice(-10))}`,
          { cause },
        );
      });
  };

  /** Reads the numbers that an app prints, as a person's terminal does: cut off, it asks again from the last event on. */
  async function* follow(name: string, signal: AbortSignal): AsyncGenerator<number> {
    let last = '';
    while (!signal.aborted) {
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(last && { 'last-event-id': last }),
      };
      let rest = '';
      const chunks = await new Promise<AsyncIterable<string> | null>((resolve) => {
        const sent = request(
          `${server.url}/api/apps/${name}/logs?tail=1000`,
          { headers, agent: false, signal },
          (answer) =>
            resolve(
              answer.statusCode === 200 ? answer.setEncoding('utf8') : (answer.resume(), null),
            ),
        );
        sent.on('error', () => resolve(null)).end();
      });
      try {
        for await (const chunk of chunks ?? []) {
          const events = (rest + chunk).split('\n\n');
          rest = events.pop() ?? '';
          for (const event of events) {
            last = /^id: (.+)$/m.exec(event)?.[1] ?? last;
            const number = /^data: n (\d+)$/m.exec(event)?.[1];
            if (number !== undefined) yield Number(number);
          }
        }
      } catch {
        // Cut off: asked again.
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  it('finds apps as they should be: those that ran run, those that were stopped do not, volumes are whole, and logs go on', async () => {
    const [runs, rests, keeps, prints] = ['runs', 'rests', 'keeps', 'prints'].map(fresh) as [
      string,
      string,
      string,
      string,
    ];
    const image = 'docker.io/twofold-test/web:1';
    for (const name of [runs, rests])
      expect((await server.api('POST', '/api/apps', { name, image })).status).toBe(201);
    await server.api('POST', '/api/apps', {
      name: keeps,
      image,
      volumes: [{ name: 'data', path: '/data' }],
    });
    await server.api('POST', `/api/apps/${keeps}/exec`, {
      command: ['sh', '-c', 'echo kept > /data/note'],
    });
    await server.api('POST', `/api/apps/${rests}/stop`);
    await server.api('POST', '/api/apps', {
      name: prints,
      image,
      command: [
        'sh',
        '-c',
        'httpd -p $PORT -h /www; i=0; while true; do echo n $i; i=$((i+1)); usleep 20000; done',
      ],
    });
    const numbers: number[] = [];
    const over = new AbortController();
    const reading = (async () => {
      for await (const number of follow(prints, over.signal)) numbers.push(number);
    })();
    await expect.poll(() => numbers.length, { timeout: 20_000 }).toBeGreaterThan(20);

    engine.kill();
    await expect.poll(health, { timeout: 20_000 }).toBe('disconnected');
    // What it ran goes on, and is served, without it.
    expect([await page(runs), (await server.visit(`${rests}.apps.test`)).status]).toEqual([
      'version 1\n',
      503,
    ]);
    expect((await server.api('POST', `/api/apps/${runs}/restart`)).status).toBe(503);
    const seen = numbers.length;
    await back();
    // Docker ends what it finds running, and the numbers begin again.
    await expect.poll(() => numbers.length, { timeout: 30_000 }).toBeGreaterThan(seen + 50);
    for (const name of [runs, keeps, prints]) {
      await expect
        .poll(async () => [name, (await app(name)).status, await containersOf(name)], {
          timeout: 30_000,
        })
        .toEqual([name, 'running', [[1, 'running']]]);
    }
    expect(await page(runs)).toBe('version 1\n');
    expect([
      (await app(rests)).status,
      (await containersOf(rests)).map(([, state]) => state),
    ]).toEqual(['stopped', [expect.stringMatching(/exited|stopped/)]]);
    expect(
      (await server.api('POST', `/api/apps/${keeps}/exec`, { command: ['cat', '/data/note'] })).body
        .stdout,
    ).toBe('kept\n');
    over.abort();
    await reading;
    const breaks = numbers.flatMap((number, at) =>
      at > 0 && number !== (numbers[at - 1] as number) + 1 ? [[numbers[at - 1], number]] : [],
    );
    expect(breaks.filter(([, next]) => next !== 0)).toEqual([]);
    if (kind === 'podman') expect(breaks).toEqual([]);
    for (const name of [runs, rests, keeps, prints])
      expect((await server.api('DELETE', `/api/apps/${name}?volumes=true`)).status).toBe(200);
  });

  it('in a deployment, leaves the old or the new version and nothing else, whenever it dies', async () => {
    const name = fresh('app');
    await made(name, 'version 1');
    const served = [1];
    // Once the new one answers, nothing is asked of the engine that the switch depends on.
    const steps = [
      ['building', false],
      ['created', false],
      ['ready', true],
      ['committed', true],
      ['drained', true],
    ] as const;
    for (const [index, [step, switched]] of steps.entries()) {
      const number = index + 2;
      fatal.step = step;
      const { status, body } = await deploy(name, `version ${number}`);
      expect([step, fatal.step, status, body.error ?? null]).toEqual([
        step,
        null,
        switched ? 200 : 503,
        switched ? null : expect.stringMatching(/engine/),
      ]);
      if (switched) served.push(number);
      await back();
      await settles(name, whole(served, number));
      expect([step, await page(name)]).toEqual([step, `version ${served.at(-1)}`]);
      if (!switched)
        expect(
          (await server.api('GET', `/api/apps/${name}/deployments/${number}`)).body.reason,
        ).toMatch(/engine/);
    }
    await made(name, 'the last');
    expect(await page(name)).toBe('the last');
    expect((await server.api('DELETE', `/api/apps/${name}?volumes=true`)).status).toBe(200);
    expect([await containersOf(name), await tagsOf(name)]).toEqual([[], []]);
  }, 240_000);
});
