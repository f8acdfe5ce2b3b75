import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeLlama } from './available.ts';
import { startHub, type TestHub } from './hub.ts';
import { API_KEY, type ModelsServer, startModels } from './server.ts';
import { startEngine } from './test-engine.ts';
import { tinyModel } from './tiny-gguf.ts';

const ID = 'tests/tiny-GGUF';

describeLlama('the official OpenAI client', () => {
  let hub: TestHub;
  let server: ModelsServer;
  let client: OpenAI;
  beforeAll(async () => {
    hub = await startHub({ [ID]: { files: { 'tiny.gguf': tinyModel() } } });
    server = await startModels({ hub: hub.url, list: [ID] });
    await server.call('POST', '/api/mlx/pull', { model: ID });
    await server.until(ID, ({ status }) => status === 'downloaded');
    await server.call('POST', '/api/mlx/start', { model: ID });
    client = new OpenAI({
      baseURL: `${server.url}/api/mlx/v1`,
      apiKey: server.token,
      maxRetries: 0,
    });
  });
  afterAll(async () => {
    await server?.end();
    await hub?.close();
  });
  const messages = [
    { role: 'system', content: 'You are small.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
  ] satisfies OpenAI.ChatCompletionMessageParam[];

  it('lists the model', async () => {
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual([ID]);
    expect((await client.models.retrieve(ID)).id).toBe(ID);
  });

  it('asks for a chat, whole and streamed, and gets the same', async () => {
    const whole = await client.chat.completions.create({
      model: ID,
      messages,
      seed: 5,
      max_completion_tokens: 24,
    });
    expect(whole.usage?.completion_tokens).toBe(24);
    let text = '';
    for await (const chunk of await client.chat.completions.create({
      model: ID,
      messages,
      seed: 5,
      max_completion_tokens: 24,
      stream: true,
    }))
      text += chunk.choices[0]?.delta.content ?? '';
    expect(text.length).toBeGreaterThan(10);
    expect(text).toBe(whole.choices[0]?.message.content);
  });

  it('completes a text', async () => {
    const { choices } = await client.completions.create({
      model: ID,
      prompt: 'Once upon',
      max_tokens: 5,
      temperature: 0,
    });
    expect(choices[0]?.finish_reason).toBe('length');
  });

  it('understands what is refused', async () => {
    await expect(client.chat.completions.create({ model: ID, messages: [] })).rejects.toMatchObject(
      { status: 400, param: 'messages', message: expect.stringContaining('at least one message') },
    );
    await expect(
      client.chat.completions.create({ model: 'gpt-5', messages }),
    ).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const stranger = new OpenAI({
      baseURL: `${server.url}/api/mlx/v1`,
      apiKey: 'wrong',
      maxRetries: 0,
    });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it('may come with an API key of ours in place of a token', async () => {
    const keyed = new OpenAI({
      baseURL: `${server.url}/api/mlx/v1`,
      apiKey: 'unused',
      defaultHeaders: { Authorization: null, 'X-API-Key': API_KEY },
      maxRetries: 0,
    });
    expect((await keyed.models.list()).data.length).toBe(1);
  });
});

describe('the openai engine', () => {
  let upstream: Server;
  let url: string;
  let server: ModelsServer;
  const seen: { path: string; key: string | undefined; body: any }[] = [];
  beforeAll(async () => {
    upstream = createServer((request, response) => {
      let text = '';
      request
        .on('data', (chunk) => (text += chunk))
        .on('end', () => {
          seen.push({
            path: request.url ?? '',
            key: request.headers.authorization,
            body: text && JSON.parse(text),
          });
          const isList = request.url === '/v1/models';
          response
            .writeHead(200, { 'Content-Type': 'application/json' })
            .end(
              JSON.stringify(
                isList
                  ? { object: 'list', data: [{ id: 'llama3.2:latest' }, { id: 'other/model' }] }
                  : { object: 'chat.completion', model: 'llama3.2:latest', choices: [] },
              ),
            );
        });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
    server = await startModels({ engine: url, env: { OPENAI_API_KEY: 'upstream-key' } });
  });
  afterAll(async () => {
    await server.end();
    upstream.closeAllConnections();
  });
  const chat = (model: string) =>
    server.call('POST', '/api/mlx/v1/chat/completions', { model, messages: [] });

  it('shows what the attached server has, next to what could be downloaded', async () => {
    const { body } = await server.call('GET', '/api/mlx/models');
    expect(body).toMatchObject({ engine: 'openai', eligible: true, running: null });
    expect(
      body.models
        .filter(({ format }: any) => format === 'remote')
        .map(({ id, status }: any) => [id, status]),
    ).toEqual([
      ['llama3.2:latest', 'downloaded'],
      ['other/model', 'downloaded'],
    ]);
    expect((await server.model('other/model')).format).toBe('remote');
  });

  it("passes calls on with its own key, and never with the caller's", async () => {
    expect((await chat('default')).status).toBe(503);
    expect(await server.call('POST', '/api/mlx/start', { model: 'nobody' })).toMatchObject({
      status: 404,
    });
    expect((await server.call('POST', '/api/mlx/start', { model: 'llama3.2:latest' })).status).toBe(
      200,
    );
    expect((await server.call('GET', '/api/mlx/models')).body.running).toBe('llama3.2:latest');
    expect((await chat('default')).status).toBe(200);
    expect(seen.at(-1)).toEqual({
      path: '/v1/chat/completions',
      key: 'Bearer upstream-key',
      body: {
        ...{ model: 'llama3.2:latest', messages: [] },
        ...{ stream: true, stream_options: { include_usage: true } },
      },
    });
    expect((await chat('other/model')).status).toBe(200);
    expect(seen.at(-1)?.body.model).toBe('other/model');
    expect((await server.call('GET', '/api/mlx/v1/models')).body.data.length).toBe(2);
    expect((await server.call('POST', '/api/mlx/stop')).status).toBe(200);
    // It is loaded again when it is asked for.
    expect((await chat('other/model')).status).toBe(200);
  });

  it('of a list are asked in its order, and the first that has a model runs it', async () => {
    const one = await startEngine(['org/both', 'org/one']);
    const two = await startEngine(['org/both', 'org/two']);
    const answeredBy = async (order: readonly string[]) => {
      const listed = await startModels({ engine: order });
      const asked: Record<string, string> = {};
      for (const model of ['org/both', 'org/one', 'org/two']) {
        const before = [one.seen.length, two.seen.length];
        const { status } = await listed.call('POST', '/api/mlx/v1/chat/completions', {
          model,
          messages: [],
        });
        const after = [one.seen.length, two.seen.length].map((count, at) => count - before[at]!);
        asked[model] = `${status} ${after.join()}`;
      }
      const { body } = await listed.call('GET', '/api/mlx/v1/models');
      await listed.end();
      return { ...asked, models: body.data.map(({ id }: any) => id) };
    };
    const both = { 'org/one': '200 1,0', 'org/two': '200 0,1' };
    expect(await answeredBy([one.url, two.url])).toEqual({
      ...{ ...both, 'org/both': '200 1,0' },
      models: ['org/both', 'org/one', 'org/two'],
    });
    expect(await answeredBy([two.url, one.url])).toEqual({
      ...{ ...both, 'org/both': '200 0,1' },
      models: ['org/both', 'org/two', 'org/one'],
    });
    // One that is away is passed over.
    expect(await answeredBy(['http://127.0.0.1:9/v1', two.url])).toMatchObject({
      'org/both': '200 0,1',
      'org/one': '404 0,0',
    });
    await Promise.all([one.close(), two.close()]);
  });

  it('is not eligible while the server is away, and the list still answers', async () => {
    const away = await startModels({ engine: 'http://127.0.0.1:9/v1' });
    expect((await away.call('GET', '/api/mlx/models')).body).toMatchObject({
      engine: null,
      eligible: false,
      reason: expect.stringContaining('127.0.0.1:9 does not answer'),
    });
    await away.end();
  });
});
