import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Engine, LogLine } from '../../runtime/hosting/engine/engine.ts';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { driverOf } from './driver.ts';

/** The driver itself, where the engines differ: a row of the table of quirks is a test. */
describeEachEngine('the driver', ({ kind, socket }) => {
  const { driver, run, labels, network, spec, make, state, build } = driverOf(socket);

  it('gives the same word for the same failure: a name that is taken, a name that is none, a network in use', async () => {
    await make('taken');
    await expect(driver.engine.create(spec('taken'))).rejects.toMatchObject({ kind: 'conflict' });
    await expect(driver.engine.create(spec('bad name!'))).rejects.toMatchObject({
      kind: 'invalid',
      status: 400,
    });
    await expect(driver.engine.removeNetwork(network, labels)).rejects.toMatchObject({
      kind: 'conflict',
    });
    await expect(
      driver.engine.create(spec('no-image', { image: `localhost/none-${run}:1` })),
    ).rejects.toMatchObject({ kind: 'not_found', message: expect.stringContaining(`none-${run}`) });
    // A network that is there is no failure, nor what is gone already.
    await driver.engine.ensureNetwork(network, labels);
    await driver.engine.remove('0'.repeat(64));
    await driver.engine.removeNetwork(`${network}-none`, labels);
    await driver.engine.removeVolume(`${network}-none`);
    expect(await driver.engine.inspect('0'.repeat(64))).toBeNull();
  });

  it('removes what still runs, and tells names apart that begin alike', async () => {
    const one = await make('web-1');
    const ten = await make('web-10');
    expect(
      (await driver.engine.list(labels))
        .filter(({ name }) => name.includes(`-${driver.turn}-web-1`))
        .map(({ id }) => id)
        .sort(),
    ).toEqual([one, ten].sort());
    await driver.engine.remove(one);
    expect(await driver.engine.inspect(one)).toBeNull();
    expect(await state(ten)).toBe('running');
  });

  it('starts what runs and stops what does not, as if nothing had been asked', async () => {
    const id = await make('twice');
    await driver.engine.start(id);
    expect(await state(id)).toBe('running');
    await driver.engine.stop(id, 5);
    await driver.engine.stop(id, 5);
    expect(await state(id)).toBe('stopped');
  });

  it('ends a stop by the app itself, within its time', async () => {
    const id = await make('graceful');
    await expect.poll(() => textOf(id), { timeout: 20_000 }).toContain('listens');
    await driver.engine.stop(id, 20);
    expect(await textOf(id)).toContain('version 1 stops');
  });

  it('fails a pull that the engine answers with 200', async () => {
    await expect(
      driver.engine.images.pull(`localhost:1/none-${run}:1`, new AbortController().signal),
    ).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringMatching(/localhost:1|127\.0\.0\.1:1|::1/),
    });
  });

  it('fails a build that the engine answers with 200: no Dockerfile, a word that is none, a line that fails', async () => {
    await expect(build(null)).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringMatching(/dockerfile/i),
    });
    await expect(build(`FROM ${driver.web}\nFLY away\n`)).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringMatching(/fly/i),
    });
    await expect(
      build(`FROM ${driver.web}\nRUN echo before-it-fails && exit 9\n`),
    ).rejects.toMatchObject({
      name: 'EngineError',
      lines: expect.arrayContaining([expect.stringContaining('before-it-fails')]),
    });
    expect(await driver.engine.images.find(`localhost/twofold-test-${run}/built:1`)).toBeNull();
  });

  it('builds with plain text as its output, and an id that means the content', async () => {
    const { id, lines } = await build(`FROM ${driver.web}\nRUN echo plain-${run}\n`);
    expect(lines).toContain(`plain-${run}`);
    expect(id).toMatch(/^(sha256:)?[0-9a-f]{64}$/);
    const image = await driver.engine.images.find(id);
    expect(image).toMatchObject({
      id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      tags: [`localhost/twofold-test-${run}/built:1`],
      labels: expect.objectContaining(labels),
      ports: [8080],
    });
    expect(image?.size).toBeGreaterThan(100_000);
  });

  it("builds without the machine's own network", async () => {
    const { lines } = await build(
      `FROM ${driver.web}\nRUN echo ${run}; echo links: $(ls /sys/class/net | grep -cv "^lo$") $(cat /proc/net/dev | grep -c docker0)\n`,
      { tag: `localhost/twofold-test-${run}/net:1` },
    );
    const machine = readFileSync('/proc/net/dev', 'utf8').trim().split('\n').length - 3;
    const [, links] = /links: (\d+) 0/.exec(lines.join('\n')) ?? [];
    expect([links !== undefined, Number(links) <= Math.min(1, machine)]).toEqual([true, true]);
  });

  it('names images in full, so that no registry is filled in, and keeps them by what they hold', async () => {
    const before = await driver.engine.images.find(driver.web);
    const tag = `localhost/twofold-test-${run}/kept:7`;
    await driver.engine.images.tag(before?.id as string, tag);
    expect(await driver.engine.images.tags(`localhost/twofold-test-${run}/kept:`)).toEqual([tag]);
    expect((await driver.engine.images.find(tag))?.id).toBe(before?.id);
    await driver.engine.images.untag(tag);
    expect(await driver.engine.images.find(tag)).toBeNull();
    expect((await driver.engine.images.find(driver.web))?.id).toBe(before?.id);
    await driver.engine.images.untag(tag);
  });

  it('does not let an image go that a container has, and says so', async () => {
    const tag = `localhost/twofold-test-${run}/used:${driver.turn}`;
    const { id: image } = await build(
      `FROM ${driver.web}\nRUN echo ${driver.turn} of ${run} > /www/used\n`,
      {
        tag,
      },
    );
    const id = await driver.engine.create(spec('user', { image }));
    await expect(driver.engine.images.untag(tag)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await driver.engine.images.tags(tag)).toEqual([tag]);
    await driver.engine.remove(id);
    await driver.engine.images.untag(tag);
    expect(await driver.engine.images.tags(tag)).toEqual([]);
  });

  it('keeps why a container could not be started', async () => {
    const { id: image } = await build(`FROM ${driver.web}\nUSER nobody-knows\n`, {
      tag: `localhost/twofold-test-${run}/user:1`,
    });
    const id = await driver.engine.create(spec('no-user', { image }));
    const error = await driver.engine.start(id).then(
      () => null,
      (thrown) => thrown,
    );
    expect(String(error?.message)).toMatch(/nobody-knows/);
    expect(error?.kind).not.toBe('unavailable');
    expect(
      await driver.engine.exec(id, ['true'], { timeout: 1000, limit: 10 }).then(
        () => 'ran',
        ({ name }) => name,
      ),
    ).toBe('EngineError');
    expect(['created', 'stopped']).toContain(await state(id));
  });

  it('has one word for each state, and the exit code', async () => {
    const id = await driver.engine.create(spec('states', { command: ['sh', '-c', 'exit 7'] }));
    expect(await state(id)).toBe('created');
    await driver.engine.start(id);
    await expect.poll(() => state(id), { timeout: 20_000 }).toBe('stopped');
    expect((await driver.engine.inspect(id))?.exitCode).toBe(7);
    expect((await driver.engine.list(labels)).find((each) => each.id === id)?.state).toBe(
      'stopped',
    );
  });

  it('leaves restarts to us', async () => {
    const id = await make('ends', { command: ['sh', '-c', 'exit 1'] });
    await expect.poll(() => state(id), { timeout: 20_000 }).toBe('stopped');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const {
      RestartCount = 0,
      State,
      HostConfig,
    } = await engineJson<{
      RestartCount?: number;
      State: { Status: string };
      HostConfig: { RestartPolicy: { Name: string } };
    }>(socket, { path: `/containers/${id}/json` });
    expect([
      RestartCount,
      State.Status === 'running',
      HostConfig.RestartPolicy.Name || 'no',
    ]).toEqual([0, false, 'no']);
  });

  it("runs no health check of the engine's", async () => {
    const { id: image } = await build(
      `FROM ${driver.web}\nHEALTHCHECK --interval=1s CMD touch /tmp/asked\n`,
      { tag: `localhost/twofold-test-${run}/health:1` },
    );
    const id = await make('unasked', { image });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(
      (await driver.engine.exec(id, ['ls', '/tmp'], { timeout: 5000, limit: 1000 })).stdout,
    ).toBe('');
  });

  it('tells a kill by memory from its exit code', async () => {
    const id = await make('hungry', {
      memory: 16 * 2 ** 20,
      command: ['sh', '-c', 'tail /dev/zero'],
    });
    await expect.poll(() => state(id), { timeout: 20_000 }).toBe('stopped');
    expect((await driver.engine.inspect(id))?.exitCode).toBe(137);
  });

  it('measures at once, and again with larger counters', async () => {
    const id = await make('busy', {
      memory: 64 * 2 ** 20,
      command: ['sh', '-c', 'while true; do :; done'],
    });
    const first = await driver.engine.usage(id);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const second = await driver.engine.usage(id);
    expect(first).toMatchObject({ memoryLimit: 64 * 2 ** 20 });
    expect(first?.memory).toBeGreaterThan(0);
    expect(second?.cpu).toBeGreaterThan(first?.cpu ?? 0);
    expect(second?.pids).toBeGreaterThan(0);
    expect(second?.networkIn).toBeGreaterThanOrEqual(0);
    expect(await driver.engine.usage('0'.repeat(64))).toBeNull();
    await driver.engine.remove(id);
  });

  it('reads all of a log, also of one that has ended, with lines of any length', async () => {
    const long = 'x'.repeat(40_000);
    const id = await make('writer', {
      command: [
        'sh',
        '-c',
        `echo err >&2; sleep 1; i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; head -c 40000 /dev/zero | tr '\\0' x; echo; sleep 1.1; printf unended`,
      ],
    });
    await expect.poll(() => state(id), { timeout: 20_000 }).toBe('stopped');
    const lines = await linesOf(id, {});
    expect(lines.filter(({ stream }) => stream === 'stderr').map(({ text }) => text)).toEqual([
      'err',
    ]);
    expect(lines.filter(({ stream }) => stream === 'stdout').map(({ text }) => text)).toEqual([
      ...Array.from({ length: 20_000 }, (_, index) => `line ${index}`),
      long,
      'unended',
    ]);
    expect(lines.every(({ time }) => !Number.isNaN(Date.parse(time)))).toBe(true);
    expect((await linesOf(id, { tail: 1 })).map(({ text }) => text)).toEqual(['unended']);
    // Following one that has ended gives the same, and ends.
    expect(
      (await linesOf(id, { follow: true }))
        .map(({ stream, text }) => `${stream} ${text.slice(0, 50)}`)
        .toSorted(),
    ).toEqual(lines.map(({ stream, text }) => `${stream} ${text.slice(0, 50)}`).toSorted());
  });

  it('follows a log until its container ends, and loses nothing of it', async () => {
    const id = await driver.engine.create(
      spec('flood', {
        command: [
          'sh',
          '-c',
          'sleep 0.5; i=0; while [ $i -lt 30000 ]; do echo line $i of a flood that is longer than a frame; i=$((i+1)); done',
        ],
      }),
    );
    await driver.engine.start(id);
    const lines = await linesOf(id, { follow: true });
    expect(lines.map(({ text }) => Number(/^line (\d+)/.exec(text)?.[1]))).toEqual(
      Array.from({ length: 30_000 }, (_, index) => index),
    );
  });

  it('gives a command nothing to read, and both of its streams', async () => {
    const id = await make('exec');
    const options = { timeout: 10_000, limit: 1000 };
    expect(
      await driver.engine.exec(id, ['sh', '-c', 'cat; echo out; echo err >&2; exit 3'], options),
    ).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n', truncated: false });
    expect(
      await driver.engine.exec(id, ['sh', '-c', 'head -c 5000 /dev/zero | tr "\\0" y'], options),
    ).toMatchObject({ exitCode: 0, stdout: 'y'.repeat(1000), truncated: true });
    expect(
      (
        await driver.engine
          .exec(id, ['/no/such/program'], options)
          .catch(({ message }) => ({ exitCode: 127, stderr: message }))
      ).exitCode,
    ).toBeGreaterThan(125);
  });

  it('tells of start, end and removal in the same words, and of nothing that is not ours', async () => {
    const abort = new AbortController();
    const seen: string[] = [];
    const listening = (async () => {
      for await (const { action, containerId, exitCode } of driver.engine.events(
        labels,
        abort.signal,
      ))
        seen.push(`${action} ${containerId} ${action === 'die' ? exitCode : ''}`.trim());
    })().catch(() => {});
    // Nothing says that the engine has begun to tell but that it tells.
    for (let count = 0; seen.length === 0 && count < 30; count += 1) {
      await make(`early-${count}`, { command: ['true'] });
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    const { Id: foreign } = await engineJson<{ Id: string }>(socket, {
      method: 'POST',
      path: '/containers/create',
      json: { Image: driver.web, Cmd: ['true'], Labels: { 'twofold-test': 'foreign' } },
    });
    await callEngine(socket, { method: 'POST', path: `/containers/${foreign}/start` });
    const id = await make('told', { command: ['sh', '-c', 'sleep 0.3; exit 4'] });
    await expect.poll(() => state(id), { timeout: 20_000 }).toBe('stopped');
    await expect
      .poll(() => seen.some((each) => each.startsWith(`die ${id}`)), { timeout: 20_000 })
      .toBe(true);
    await driver.engine.remove(id);
    await expect.poll(() => seen, { timeout: 20_000 }).toContain(`remove ${id}`);
    abort.abort();
    await listening;
    await callEngine(socket, { method: 'DELETE', path: `/containers/${foreign}?force=1` });
    // Podman may tell late of what other tests of this file have ended.
    const of = (one: string) => [...new Set(seen)].filter((each) => each.includes(one));
    expect([of(id), of(foreign)]).toEqual([[`start ${id}`, `die ${id} 4`, `remove ${id}`], []]);
  });

  it('gives every network names, and finds apps by them', async () => {
    await make('named');
    const asker = await make('asker', {
      command: [
        'sh',
        '-c',
        'for i in 1 2 3 4 5 6 7 8 9 10; do wget -q -O - http://named:8080/ && exit 0; sleep 0.5; done; exit 1',
      ],
    });
    await expect.poll(() => state(asker), { timeout: 20_000 }).toBe('stopped');
    expect(await textOf(asker)).toContain('version 1\n');
  });

  it('reads the port anew after each start', async () => {
    // A page that nobody else on this machine has: the port is free after the stop, and anyone may take it.
    const page = `${run} ${driver.turn}`;
    const id = await make('port', {
      publish: true,
      command: ['sh', '-c', `echo ${page} > /www/index.html; exec httpd -f -p 8080 -h /www`],
    });
    const answer = async () => {
      const port = (await driver.engine.inspect(id))?.ports['8080/tcp'];
      return fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2000) }).then(
        (each) => each.text(),
        () => null,
      );
    };
    await expect.poll(answer, { timeout: 20_000 }).toBe(`${page}\n`);
    await driver.engine.stop(id, 1);
    // Docker forgets it then, Podman does not: it is nothing to go by until the next start.
    expect(await answer()).not.toBe(`${page}\n`);
    await driver.engine.start(id);
    await expect.poll(answer, { timeout: 20_000 }).toBe(`${page}\n`);
  });

  it('prunes what is its own alone, where the engine cannot prune builds too', async () => {
    const before = (await engineJson<{ Id: string }[]>(socket, { path: '/images/json' })).length;
    const pruned = await driver.engine.images.prune({
      labels: { 'twofold-test.run': `none-${run}` },
      cache: `localhost/none-${run}/`,
      note: () => {},
    });
    expect(pruned).toMatchObject({ images: 0, reclaimed: expect.any(Number) });
    expect(
      (await engineJson<{ Id: string }[]>(socket, { path: '/images/json' })).length,
    ).toBeGreaterThanOrEqual(Math.min(before, 2));
    expect(await driver.engine.images.find(driver.web)).not.toBeNull();
  });

  it('asks for the version once, however often it is asked itself', async () => {
    const first = driver.engine.info();
    const [one, two] = await Promise.all([first, driver.engine.info()]);
    expect(one).toBe(two);
    expect(one).toMatchObject({
      kind,
      version: expect.stringMatching(/^\d+\./),
      cpus: expect.any(Number),
      memory: expect.any(Number),
      root: expect.stringMatching(/^\//),
    });
    await driver.engine.ping();
  });

  async function linesOf(id: string, options: Parameters<Engine['logs']>[1]): Promise<LogLine[]> {
    return (await Array.fromAsync(driver.engine.logs(id, options))).flat();
  }
  const textOf = async (id: string) =>
    (await linesOf(id, {})).map(({ text }) => `${text}\n`).join('');
});
