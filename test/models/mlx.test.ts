import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startHub, type TestHub } from './hub.ts';
import { type ModelsServer, startModels } from './server.ts';

const ID = 'tests/words-4bit';
const NO_CONFIG = 'tests/no-config-4bit';
const list = [ID, NO_CONFIG];
const standIn = `exec "${process.execPath}" "${fileURLToPath(new URL('./stand-in.ts', import.meta.url))}"`;

/** Processes whose command line names the stand-in. */
const standIns = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('stand-in.ts');
      } catch {
        return false;
      }
    });

async function untilGone(): Promise<void> {
  for (let turn = 0; turn < 100 && standIns().length > 0; turn += 1) await sleep(50);
  expect(standIns()).toEqual([]);
}

describe('the mlx engine', () => {
  let hub: TestHub;
  let bin: string;
  let server: ModelsServer;
  const open = async (script: Record<string, string>, options = {}) => {
    bin = mkdtempSync(join(tmpdir(), 'tf-mlx-'));
    for (const [name, text] of Object.entries(script)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    server = await startModels({
      hub: hub.url,
      list,
      engine: 'mlx',
      env: { PATH: bin, HF_TOKEN: 'hf_secret' },
      ...options,
    });
    return server;
  };
  const bring = async (id: string) => {
    await server.call('POST', `/api/mlx/models/${id}/download`);
    await server.until(id, ({ status }) => status === 'downloaded');
  };
  const start = (id: string) => server.call('POST', '/api/mlx/start', { model: id });
  const say = (content: string, more = {}) =>
    server.call('POST', '/api/mlx/v1/chat/completions', {
      model: ID,
      messages: [{ role: 'user', content }],
      ...more,
    });

  beforeAll(async () => {
    const weights = Buffer.alloc(1000, 1);
    hub = await startHub({
      [ID]: { files: { 'config.json': Buffer.from('{}'), 'model.safetensors': weights } },
      [NO_CONFIG]: { files: { 'model.safetensors': weights } },
    });
  });
  afterEach(async () => {
    await server.end();
    rmSync(bin, { recursive: true, force: true });
    await untilGone();
  });
  afterAll(() => hub.close());

  it('starts mlx_lm.server with a model, and carries what it says', async () => {
    await open({ 'mlx_lm.server': `${standIn} "$@"` });
    expect((await server.call('GET', '/api/mlx/models')).body).toMatchObject({
      engine: 'mlx',
      eligible: true,
    });
    await bring(ID);
    expect(await start(ID)).toMatchObject({
      status: 200,
      body: { id: ID, status: 'running', runnable: true },
    });
    const whole = await say('hello');
    const usage = { prompt_tokens: 1, completion_tokens: 6, total_tokens: 7 };
    expect(whole).toMatchObject({
      status: 200,
      body: { model: ID, choices: [{ message: { content: 'I am not a model.' } }], usage },
    });
    // Its streams have none of these, so it is asked for a whole answer.
    const known = (await say('hello', { logprobs: true })).body;
    expect(known.choices[0].logprobs.content.length).toBe(6);
    expect(known.usage).toEqual(usage);
    const streamed = await say('hello', { stream: true });
    const chunks = streamed.text
      .split('\n\n')
      .filter((event) => event.startsWith('data: {'))
      .map((event) => JSON.parse(event.slice(6)));
    expect(chunks.map(({ choices: [choice] }) => choice.delta.content ?? '').join('')).toBe(
      'I am not a model.',
    );
    expect(chunks.every(({ model }) => model === ID)).toBe(true);
    expect((await server.call('GET', '/api/mlx/v1/models')).body.data).toEqual([
      { id: ID, object: 'model', created: 0, owned_by: 'local' },
    ]);
    expect(await say('hello', { model: 'somebody/else' })).toMatchObject({ status: 404 });
  });

  it('is asked for nothing that it would ignore: 400 names the field and the engine', async () => {
    await open({ 'mlx_lm.server': `${standIn} "$@"` });
    await bring(ID);
    const strict = { name: 'f', parameters: { type: 'object' }, strict: true };
    const tools = [{ type: 'function', function: { ...strict, strict: false } }];
    const messages = [{ role: 'user', content: 'hello' }];
    for (const [path, fields, param] of [
      ['chat/completions', { messages, n: 2 }, 'n'],
      [
        'chat/completions',
        { messages, response_format: { type: 'json_object' } },
        'response_format',
      ],
      ['chat/completions', { messages, tools, tool_choice: 'required' }, 'tool_choice'],
      ['chat/completions', { messages, tools, tool_choice: 'none' }, 'tool_choice'],
      ['chat/completions', { messages, tools, parallel_tool_calls: false }, 'parallel_tool_calls'],
      ['chat/completions', { messages, adapters: '../other' }, 'adapters'],
      ['chat/completions', { messages, draft_model: 'org/other' }, 'draft_model'],
      ['chat/completions', { messages, stream: true, logprobs: true }, 'logprobs'],
      [
        'chat/completions',
        { messages, tools: [...tools, { type: 'function', function: strict }] },
        'tools[1].function.strict',
      ],
      ['completions', { prompt: 'Once', suffix: 'end' }, 'suffix'],
      [
        'responses',
        { input: 'hello', tools: [{ type: 'function', name: 'f' }] },
        'tools[0].strict',
      ],
      ['responses', { input: 'hello', text: { format: { type: 'json_object' } } }, 'text.format'],
      ['responses', { input: 'hello', reasoning: { effort: 'low' } }, 'reasoning.effort'],
    ] as const)
      expect([
        param,
        await server.call('POST', `/api/mlx/v1/${path}`, { model: ID, ...fields }),
      ]).toMatchObject([
        param,
        {
          status: 400,
          body: { error: { message: `${param} is not supported by the mlx engine`, param } },
        },
      ]);
    expect(
      await server.call('POST', '/api/mlx/v1/embeddings', { model: ID, input: 'x' }),
    ).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('mlx') } } });
    expect(
      await server.call('POST', '/api/mlx/v1/completions', { model: ID, prompt: ['a', 'b'] }),
    ).toMatchObject({ status: 400, body: { error: { param: 'prompt' } } });
    // What asks for nothing, and what it keeps, goes through.
    const plain = { n: 1, response_format: { type: 'text' }, tool_choice: 'auto', user: 'me' };
    expect((await say('hello', { ...plain, tools, parallel_tool_calls: true })).status).toBe(200);
  });

  it('is found by its Python module too', async () => {
    await open({ python3: `case "$1" in -c) exit 0;; -m) shift 2; ${standIn} "$@";; esac` });
    await bring(ID);
    expect((await start(ID)).status).toBe(200);
    expect((await say('hello')).status).toBe(200);
  });

  it('starts a server again that has ended, and stops it for good', async () => {
    await open({ 'mlx_lm.server': `${standIn} "$@"` });
    await bring(ID);
    await start(ID);
    expect((await say('crash')).status).toBe(502);
    await server.until(ID, () => server.events.some(({ data }) => data['status'] === 'restarting'));
    await server.until(ID, ({ status }) => status === 'running');
    expect((await say('hello')).status).toBe(200);
    await server.call('POST', '/api/mlx/stop');
    await untilGone();
  });

  it('says what the server said when it cannot load a model', async () => {
    await open({ 'mlx_lm.server': `${standIn} "$@"` });
    await bring(NO_CONFIG);
    expect(await start(NO_CONFIG)).toMatchObject({
      status: 502,
      body: { error: expect.stringContaining('FileNotFoundError') },
    });
  });

  it('is not eligible where it is not installed, says why, and the list still answers', async () => {
    await open({ python3: 'exit 1' });
    const { status, body } = await server.call('GET', '/api/mlx/models');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      engine: null,
      eligible: false,
      running: null,
      reason: expect.stringContaining('pip install mlx-lm'),
    });
    expect(body.models.length).toBeGreaterThan(80);
    await bring(ID);
    expect(await start(ID)).toMatchObject({
      status: 503,
      body: { error: expect.stringContaining('pip install mlx-lm') },
    });
    expect(await say('hello')).toMatchObject({ status: 503 });
    writeFileSync(join(bin, 'mlx_lm.server'), `#!/bin/sh\n${standIn} "$@"\n`, { mode: 0o755 });
    expect((await start(ID)).status).toBe(200);
    expect(existsSync(join(bin, 'mlx_lm.server'))).toBe(true);
  });

  it('is taken before llama.cpp where both can run', async () => {
    await open({ 'mlx_lm.server': `${standIn} "$@"` }, { engine: 'auto' });
    expect((await server.call('GET', '/api/mlx/models')).body.engine).toBe('mlx');
  });
});
