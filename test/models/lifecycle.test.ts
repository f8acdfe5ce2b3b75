import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeLlama } from './available.ts';
import { startHub, type TestHub } from './hub.ts';
import { API_KEY, type ModelsServer, startModels } from './server.ts';
import { tinyModel } from './tiny-gguf.ts';

vi.setConfig({ testTimeout: 180_000 });

const ONE = 'tests/one-GGUF';
const TWO = 'tests/two-GGUF';
const weights = tinyModel({ seed: 1 });
const list = [
  ONE,
  { id: TWO, name: 'The second', file: 'two.Q8_0.gguf', licence: 'mit', context: 512 },
];

describeLlama('a model, from the list to the last token', () => {
  let hub: TestHub;
  let server: ModelsServer;
  const chat = (body: object, headers = {}) =>
    server.call(
      'POST',
      '/api/mlx/v1/chat/completions',
      {
        messages: [{ role: 'user', content: 'Tell me a story' }],
        max_tokens: 40,
        seed: 11,
        ...body,
      },
      headers,
    );

  beforeAll(async () => {
    hub = await startHub({
      [ONE]: { files: { 'one.gguf': weights, 'README.md': Buffer.from('# One') } },
      [TWO]: {
        files: {
          'two.Q8_0.gguf': tinyModel({ seed: 2 }),
          'two.Q4_0.gguf': Buffer.from('not this one'),
        },
      },
    });
    server = await startModels({ hub: hub.url, list });
  });
  afterAll(async () => {
    await server?.end();
    await hub?.close();
  });

  it('is listed among at least 40 of each format, with size and licence', async () => {
    const { status, body } = await server.call('GET', '/api/mlx/models');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      engine: 'llamacpp',
      eligible: true,
      running: null,
      state: 'stopped',
    });
    for (const format of ['gguf', 'mlx']) {
      const models = body.models.filter(
        (model: any) =>
          model.format === format && model.licence && model.size_bytes > 1e6 && model.quantization,
      );
      expect(models.length).toBeGreaterThanOrEqual(40);
      expect(
        models.every(
          ({ id, context, runnable }: any) =>
            /^[\w.-]+\/[\w.-]+$/.test(id) && context > 0 && runnable === (format === 'gguf'),
        ),
      ).toBe(true);
    }
    expect(body.models.find((model: any) => model.id === TWO)).toEqual({
      id: TWO,
      kind: null,
      loaded: false,
      name: 'The second',
      size_bytes: 0,
      format: 'gguf',
      quantization: 'Q8_0',
      status: 'available',
      licence: 'mit',
      context: 512,
      runnable: true,
    });
    expect(
      (await server.call('GET', '/api/mlx/models?format=mlx')).body.models.every(
        ({ format }: any) => format === 'mlx',
      ),
    ).toBe(true);
  });

  it('comes whole over three cuts and a restart of the server, and nothing is sent twice', async () => {
    hub.behaviour.cuts = [100_000, 200_000, 300_000];
    hub.behaviour.speed = 400_000;
    const begun = await server.call('POST', `/api/mlx/models/${encodeURIComponent(ONE)}/download`);
    expect(begun).toMatchObject({
      status: 202,
      body: { id: ONE, status: 'downloading', size_bytes: weights.length },
    });
    const half = await server.until(ONE, ({ downloaded_bytes: bytes }) => bytes > 200_000);
    expect(half.progress).toBeCloseTo(half.downloaded_bytes / weights.length, 3);
    await server.stop();
    const { folder } = server;
    expect(readdirSync(join(folder, 'data/models/.downloads', ONE)).sort()).toEqual([
      '.plan.json',
      'one.gguf.part',
    ]);

    server = await startModels({ hub: hub.url, list, folder });
    const done = await server.until(ONE, ({ status }) => status === 'downloaded');
    expect(done).toMatchObject({
      path: join(folder, 'data/models', ONE, 'one.gguf'),
      size_bytes: weights.length,
    });
    expect(hub.behaviour.cuts).toEqual([]);
    const fetched = hub.requests.filter(({ path }) => path.endsWith('one.gguf'));
    expect(fetched.map(({ range }) => range !== undefined)).toEqual(
      [false, true, true, true, true].slice(0, fetched.length),
    );
    // The first, one for each cut, and one for the restart, which may fall together with a cut.
    expect([4, 5]).toContain(fetched.length);
    expect(new Set(fetched.map(({ path }) => path)).size).toBe(1);
    expect(existsSync(join(folder, 'data/models/.downloads', ONE))).toBe(false);
    expect(server.events.filter(({ data }) => data['model'] === ONE).at(-1)?.data).toMatchObject({
      status: 'downloaded',
    });
    hub.behaviour.speed = 0;
  });

  it('is there already when it is asked for again', async () => {
    const before = hub.requests.length;
    expect(await server.call('POST', '/api/mlx/pull', { model: ONE })).toMatchObject({
      status: 200,
      body: { status: 'downloaded' },
    });
    expect(hub.requests.length).toBe(before);
  });

  it('answers a prompt whole once it is started, with the same text for the same seed', async () => {
    expect(await server.call('POST', '/api/mlx/start', { model: ONE })).toMatchObject({
      status: 200,
      body: { id: ONE, status: 'running' },
    });
    expect((await server.call('GET', '/api/mlx/models')).body).toMatchObject({
      running: ONE,
      state: 'running',
    });
    const first = await chat({ model: ONE });
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      object: 'chat.completion',
      model: ONE,
      usage: { completion_tokens: 40 },
    });
    const [choice] = first.body.choices;
    expect(choice.message.content.length).toBeGreaterThan(20);
    expect(choice.finish_reason).toBe('length');
    expect((await chat({ model: ONE })).body.choices[0].message.content).toBe(
      choice.message.content,
    );
    expect((await chat({ seed: 12 })).body.choices[0].message.content).not.toBe(
      choice.message.content,
    );
  });

  it('streams the same text in pieces', async () => {
    const whole = (await chat({})).body.choices[0].message.content;
    const streamed = await chat({ stream: true, stream_options: { include_usage: true } });
    expect(streamed.headers.get('content-type')).toContain('text/event-stream');
    const events = streamed.text.split('\n\n').filter(Boolean);
    expect(events.at(-1)).toBe('data: [DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)));
    expect(chunks.length).toBeGreaterThan(10);
    expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe(whole);
    expect(chunks.at(-1).usage.completion_tokens).toBe(40);
  });

  it('answers many at once, each with its own text', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => chat({ max_tokens: 20 })));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.every(({ body }) => body.choices[0].message.content.length > 5)).toBe(true);
  });

  it('stops at a word, keeps to a JSON grammar, and completes a text', async () => {
    const { content } = (await chat({})).body.choices[0].message;
    const word = content.slice(12, 16);
    const stopped = (await chat({ stop: word })).body.choices[0];
    expect(stopped.finish_reason).toBe('stop');
    expect(content.startsWith(stopped.message.content)).toBe(true);
    expect(stopped.message.content).not.toContain(word);
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const json = await chat({
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      max_tokens: 200,
    });
    expect(JSON.parse(json.body.choices[0].message.content)).toEqual({ ok: expect.any(Boolean) });
    const completed = await server.call('POST', '/api/mlx/v1/completions', {
      prompt: 'Once',
      max_tokens: 8,
      seed: 1,
    });
    expect(completed.body).toMatchObject({
      object: 'text_completion',
      choices: [{ text: expect.any(String), finish_reason: 'length' }],
    });
  });

  it('says clearly what it cannot do', async () => {
    expect(await chat({ logprobs: true })).toMatchObject({
      status: 400,
      body: {
        error: { message: 'logprobs is not supported by the llamacpp engine', param: 'logprobs' },
      },
    });
    expect(await chat({ n: 2 })).toMatchObject({ status: 400, body: { error: { param: 'n' } } });
    expect(await chat({ temperature: 9 })).toMatchObject({
      status: 400,
      body: { error: { message: 'temperature must be a number from 0 to 2' } },
    });
    expect(await chat({ messages: [] })).toMatchObject({
      status: 400,
      body: { error: { param: 'messages' } },
    });
    expect(
      await chat({ messages: [{ role: 'user', content: 'word '.repeat(20_000) }] }),
    ).toMatchObject({ status: 400, body: { error: { code: 'context_length_exceeded' } } });
    expect(
      await server.call('POST', '/api/mlx/v1/completions', { prompt: 'word '.repeat(20_000) }),
    ).toMatchObject({
      status: 400,
      body: {
        error: { param: 'prompt', message: expect.stringContaining('raise MODELS_CONTEXT') },
      },
    });
    expect((await server.call('POST', '/api/mlx/v1/completions', [])).status).toBe(400);
    expect(await chat({ model: TWO })).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining(`${TWO} is not downloaded`) } },
    });
    expect(await chat({ model: 'tests/nobody' })).toMatchObject({
      status: 404,
      body: { error: { param: 'model', code: 'model_not_found' } },
    });
    expect((await server.call('POST', '/api/mlx/v1/audio/speech', { input: 'x' })).status).toBe(
      404,
    );
  });

  it('refuses at once what is far too long or too deep, and is there for the next', async () => {
    // Four megabytes of one text would take the tokenizer hours.
    expect(
      await chat({ messages: [{ role: 'user', content: 'word '.repeat(800_000) }] }),
    ).toMatchObject({ status: 400, body: { error: { code: 'context_length_exceeded' } } });
    expect(
      (
        await chat({
          messages: Array.from({ length: 100_000 }, () => ({ role: 'user', content: 'word' })),
        })
      ).status,
    ).toBe(400);
    const deep = `{"messages":${'['.repeat(1e6)}${']'.repeat(1e6)}}`;
    const answer = await fetch(`${server.url}/api/mlx/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body: deep,
    });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: expect.objectContaining({ message: 'The body is nested too deeply' }) },
    ]);
    expect((await chat({})).status).toBe(200);
  });

  it('lets in only who may: no token 401, a path out of the API 404', async () => {
    expect(await chat({}, { authorization: '' })).toMatchObject({
      status: 401,
      body: { error: expect.any(String) },
    });
    expect((await chat({}, { authorization: '', 'x-api-key': API_KEY })).status).toBe(200);
    expect(
      (await server.call('GET', '/api/mlx/models', undefined, { authorization: '' })).status,
    ).toBe(401);
    expect(
      (await server.call('POST', '/api/mlx/stop', undefined, { authorization: 'Bearer nonsense' }))
        .status,
    ).toBe(401);
    expect((await server.call('GET', '/api/mlx/v1/..%2f..%2fsecrets')).status).toBe(404);
    expect((await server.call('GET', '/api/mlx/v1/models')).body).toMatchObject({
      object: 'list',
      data: [{ id: ONE, object: 'model' }],
    });
  });

  it('makes room for a second one, which takes its place', async () => {
    expect((await server.call('POST', `/api/mlx/models/${TWO}/download`)).status).toBe(202);
    await server.until(TWO, ({ status }) => status === 'downloaded');
    const before = (await chat({})).body.choices[0].message.content;
    expect(await server.call('POST', '/api/mlx/run', { model: TWO })).toMatchObject({
      status: 200,
      body: { id: TWO, status: 'running' },
    });
    expect((await server.model(ONE)).status).toBe('running');
    expect((await chat({ model: TWO })).body.choices[0].message.content).not.toBe(before);
  });

  it('runs again after a restart of the server, as it ran before', async () => {
    const { folder } = server;
    const text = (await chat({})).body.choices[0].message.content;
    await server.stop();
    server = await startModels({ hub: hub.url, list, folder });
    await server.until(TWO, ({ status }) => status === 'running');
    expect((await chat({})).body.choices[0].message.content).toBe(text);
  });

  it('stops, can be removed, and leaves nothing', async () => {
    expect(await server.call('DELETE', `/api/mlx/models/${TWO}`)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('is running') },
    });
    expect(await server.call('POST', '/api/mlx/stop')).toMatchObject({
      status: 200,
      body: { status: 'stopped', model: TWO },
    });
    expect(await chat({})).toMatchObject({
      status: 503,
      body: { error: { message: 'No model is running: POST /api/mlx/start' } },
    });
    expect((await server.call('POST', '/api/mlx/stop')).status).toBe(200);
    for (const path of [TWO, encodeURIComponent(ONE)])
      expect(await server.call('DELETE', `/api/mlx/models/${path}`)).toMatchObject({
        status: 200,
        body: { status: 'deleted' },
      });
    expect(
      readdirSync(join(server.folder, 'data/models')).filter((name) => name !== '.downloads'),
    ).toEqual([]);
    expect((await server.call('DELETE', `/api/mlx/models/${ONE}`)).status).toBe(404);
  });

  it('stands in the audit log with who did it', async () => {
    const rows = await server.kernel.store.db
      .selectFrom('twofold_audit')
      .select(['actor', 'action', 'target', 'ip'])
      .execute();
    expect(rows).toContainEqual({
      actor: 'host',
      action: 'downloadModel',
      target: ONE,
      ip: '127.0.0.1',
    });
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['startModel', 'runModel', 'stopModel', 'deleteModel', 'pullModel']),
    );
    expect(rows.some(({ action }) => action === 'promptModel')).toBe(false);
  });
});
