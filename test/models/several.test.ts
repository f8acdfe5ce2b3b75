import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeLlama } from './available.ts';
import { startHub, type TestHub } from './hub.ts';
import { type ModelsServer, startModels } from './server.ts';
import { startEngine, type TestEngine, USUAL } from './test-engine.ts';
import { tinyModel } from './tiny-gguf.ts';

vi.setConfig({ testTimeout: 180_000 });

const THREE = ['tests/one-GGUF', 'tests/two-GGUF', 'tests/three-GGUF'] as const;
const NVIDIA = '#!/bin/sh\necho "Test GPU, 24576, 20480"\n';

describeLlama('three models in room for one', () => {
  let hub: TestHub;
  let server: ModelsServer;
  let programs: string;
  beforeAll(async () => {
    programs = mkdtempSync(join(tmpdir(), 'tf-smi-'));
    writeFileSync(join(programs, 'nvidia-smi'), NVIDIA);
    chmodSync(join(programs, 'nvidia-smi'), 0o755);
    hub = await startHub({
      ...Object.fromEntries(
        THREE.map((id, seed) => [id, { files: { 'm.gguf': tinyModel({ seed: seed + 1 }) } }]),
      ),
      'tests/several': {
        files: { 'a.gguf': tinyModel({ seed: 4 }), 'b.gguf': tinyModel({ seed: 5 }) },
      },
      'others/no-GGUF': { files: { 'm.gguf': tinyModel() } },
    });
    server = await startModels({
      hub: hub.url,
      env: { PATH: `${programs}:${process.env['PATH'] ?? ''}` },
      models: {
        allow: ['tests/*'],
        maxSize: 700_000,
        loaded: { max: 1, memory: 'auto', gpuMemory: 'auto', idle: 600_000 },
        aliases: { default: 'first', first: THREE[0] },
      },
    });
    for (const id of THREE) await server.call('POST', `/api/mlx/models/${id}/download`);
    for (const id of THREE) await server.until(id, ({ status }) => status === 'downloaded');
  });
  afterAll(async () => {
    await server?.end();
    await hub?.close();
    rmSync(programs, { recursive: true, force: true });
  });
  const ask = (model: string | undefined, body: object = {}) =>
    server.call('POST', '/api/mlx/v1/chat/completions', {
      ...{ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 4, seed: 1, ...body },
    });

  it('are all answered, 60 mixed requests, each by its own model', async () => {
    const asked = Array.from({ length: 60 }, (_, index) => THREE[index % 3]!);
    const answers = await Promise.all(asked.map((id) => ask(id)));
    expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(answers.map(({ headers }) => headers.get('x-twofold-model'))).toEqual(asked);
    const texts = THREE.map((_, at) => answers[at]!.body.choices[0].message.content);
    expect(new Set(texts).size).toBe(3);
    expect(answers.map(({ body }) => body.choices[0].message.content)).toEqual(
      asked.map((_, index) => texts[index % 3]),
    );
    const { models } = (await server.call('GET', '/api/mlx/models')).body;
    expect(models.filter(({ loaded }: any) => loaded).length).toBe(1);
    expect(models.find(({ id }: any) => id === THREE[0])).toMatchObject({ kind: 'chat' });
  });

  it('do not push one out that answers', async () => {
    const streamed = ask(THREE[0], { stream: true, max_tokens: 1500 });
    await expect.poll(async () => (await server.model(THREE[0])).loaded).toBe(true);
    const [{ text }, other] = await Promise.all([streamed, ask(THREE[1])]);
    expect(text).toContain('[DONE]');
    expect(other.status).toBe(200);
  });

  it('have further names, and a default', async () => {
    const answer = await ask('first');
    expect(answer.headers.get('x-twofold-model')).toBe(THREE[0]);
    expect((await ask(undefined)).headers.get('x-twofold-model')).toBe(THREE[0]);
    const { data } = (await server.call('GET', '/api/mlx/v1/models')).body;
    expect(data.map(({ id }: any) => id).toSorted()).toEqual(
      ['default', 'first', ...THREE].toSorted(),
    );
    expect(await ask('tests/nobody')).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    });
  });

  it('are counted against RAM and the memory of graphics cards', async () => {
    const { memory } = (await server.call('GET', '/api/mlx/models')).body;
    expect(memory).toMatchObject({
      ram: { total: expect.any(Number), free: expect.any(Number) },
      gpus: [{ name: 'Test GPU', total: 24_576 * 2 ** 20, free: 20_480 * 2 ** 20 }],
      layers_on_gpu: 0,
    });
  });

  it('come from any repository that the policy allows, and from no other', async () => {
    const before = hub.requests.length;
    expect(await server.call('POST', '/api/mlx/models/others/no-GGUF/download')).toMatchObject({
      status: 403,
      body: { error: 'The policy does not allow others/no-GGUF' },
    });
    expect(hub.requests.length).toBe(before);
    const path = '/api/mlx/models/tests/several/download';
    expect(await server.call('POST', path, { file: '../b.gguf' })).toMatchObject({ status: 400 });
    expect(await server.call('POST', path, { file: 'b.gguf' })).toMatchObject({ status: 202 });
    await server.until('tests/several', ({ status }) => status === 'downloaded');
    expect((await ask('tests/several')).status).toBe(200);
    await server.call('POST', '/api/mlx/stop');
    await server.call('DELETE', '/api/mlx/models/tests/several');
  });
});

describe('a model that fails', () => {
  let engine: TestEngine;
  let server: ModelsServer;
  beforeAll(async () => {
    engine = await startEngine(['org/big', 'org/small']);
    server = await startModels({
      engine: engine.url,
      models: { fallbacks: { 'org/big': ['org/small'] }, aliases: { 'gpt-4o-mini': 'org/big' } },
    });
  });
  afterAll(async () => {
    await server?.end();
    await engine?.close();
  });
  afterEach(() => void Object.assign(engine.behaviour, USUAL));
  const ask = (body: object = {}) =>
    server.call('POST', '/api/mlx/v1/chat/completions', {
      ...{ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], ...body },
    });

  it('is replaced by its fallback, as long as nothing was answered', async () => {
    expect((await ask()).headers.get('x-twofold-model')).toBe('org/big');
    let turns = 0;
    engine.behaviour.before = async () => {
      engine.behaviour.status = (turns += 1) === 1 ? 500 : null;
    };
    for (const stream of [false, true]) {
      turns = 0;
      const answer = await ask({ stream });
      expect([answer.status, answer.headers.get('x-twofold-model')]).toEqual([200, 'org/small']);
    }
    turns = 0;
    engine.behaviour.before = async () => {
      engine.behaviour.status = 400;
    };
    expect(await ask()).toMatchObject({
      status: 400,
      body: { error: { message: 'the engine is ill' } },
    });
    Object.assign(engine.behaviour, USUAL, { cutAfter: 2, delay: 30 });
    const cut = await ask({ stream: true });
    expect(cut.headers.get('x-twofold-model')).toBe('org/big');
    expect(cut.text).toContain('The model ended before its answer was complete');
  });

  it('is replaced only where the key may use both, and never for a key of the fallback alone', async () => {
    const asking = async (models: readonly string[]) => {
      const { key } = (await server.call('POST', '/api/mlx/keys', { name: 'k', models })).body;
      return (model: string) =>
        server.call(
          'POST',
          '/api/mlx/v1/chat/completions',
          { model, messages: [{ role: 'user', content: 'Hi' }] },
          { authorization: `Bearer ${key}` },
        );
    };
    const modelOf = async (answer: ReturnType<Awaited<ReturnType<typeof asking>>>) => {
      const { status, headers } = await answer;
      return [status, headers.get('x-twofold-model')];
    };
    const small = await asking(['org/small']);
    expect(await modelOf(small('org/big'))).toEqual([403, null]);
    expect(await modelOf(small('gpt-4o-mini'))).toEqual([403, null]);
    expect(await modelOf(small('org/small'))).toEqual([200, 'org/small']);
    const [big, both, alias] = [
      await asking(['org/big']),
      await asking(['org/*']),
      await asking(['gpt-4o-mini']),
    ];
    engine.behaviour.before = async () => {
      engine.behaviour.status = engine.seen.at(-1)?.body.model === 'org/big' ? 500 : null;
    };
    const before = engine.seen.length;
    expect(await modelOf(big('org/big'))).toEqual([500, null]);
    expect(await modelOf(alias('gpt-4o-mini'))).toEqual([500, null]);
    expect(engine.seen.slice(before).map(({ body }) => body.model)).toEqual(['org/big', 'org/big']);
    expect(await modelOf(both('org/big'))).toEqual([200, 'org/small']);
  });

  it.each(['constructor', '__proto__', 'toString'])(
    'is not one that is called %s',
    async (model) => {
      expect(await ask({ model })).toMatchObject({
        status: 404,
        body: { error: { code: 'model_not_found' } },
      });
    },
  );

  it('ranks documents, the best first, with their texts where they are asked for', async () => {
    const documents = ['short', 'a long document', 'middle one'];
    const { body } = await server.call('POST', '/api/mlx/v1/rerank', {
      ...{ model: 'org/small', query: 'q', documents, top_n: 2, return_documents: true },
    });
    expect(body.results).toEqual([
      { index: 1, relevance_score: 0.15, document: { text: 'a long document' } },
      { index: 2, relevance_score: 0.1, document: { text: 'middle one' } },
    ]);
    expect(body.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
  });
});
