import Anthropic from '@anthropic-ai/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeLlama } from './available.ts';
import { startHub, type TestHub } from './hub.ts';
import { type ModelsServer, startModels } from './server.ts';
import { tinyModel } from './tiny-gguf.ts';

vi.setConfig({ testTimeout: 60_000 });

const ID = 'tests/tiny-GGUF';
const ajv = new Ajv2020({ strict: false });
const weather = {
  type: 'object',
  properties: {
    city: { enum: ['Oslo', 'Rome'] },
    days: { type: 'integer', minimum: 1, maximum: 14 },
  },
  required: ['city', 'days'],
  additionalProperties: false,
};
const tool = {
  type: 'function',
  function: { name: 'weather', description: 'The weather', parameters: weather },
} as const;

describeLlama('the clients that agents use', () => {
  let hub: TestHub;
  let server: ModelsServer;
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(async () => {
    hub = await startHub({ [ID]: { files: { 'tiny.gguf': tinyModel() } } });
    server = await startModels({ hub: hub.url, list: [ID] });
    await server.call('POST', '/api/mlx/pull', { model: ID });
    await server.until(ID, ({ status }) => status === 'downloaded');
    await server.call('POST', '/api/mlx/start', { model: ID });
    const base = `${server.url}/api/mlx`;
    openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: server.token, maxRetries: 0 });
    anthropic = new Anthropic({
      baseURL: base,
      apiKey: null,
      authToken: server.token,
      maxRetries: 0,
    });
  });
  afterAll(async () => {
    await server?.end();
    await hub?.close();
  });

  const user = { role: 'user', content: 'How is the weather?' } as const;
  const valid = (text: string) => ajv.validate(weather, JSON.parse(text));

  it('call a required tool with valid arguments, and send its result back', async () => {
    for (const seed of [1, 2, 3]) {
      const { choices, usage } = await openai.chat.completions.create({
        model: ID,
        messages: [user],
        tools: [tool],
        tool_choice: 'required',
        parallel_tool_calls: false,
        seed,
      });
      const [choice] = choices;
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
      const [call, ...more] = choice!.message.tool_calls!;
      expect(more).toEqual([]);
      if (call?.type !== 'function') throw new TypeError('no call of a function');
      expect(call.id).toMatch(/^call_/);
      expect(valid(call.function.arguments)).toBe(true);
      expect(usage?.total_tokens).toBe(usage!.prompt_tokens + usage!.completion_tokens);
      const after = await openai.chat.completions.create({
        model: ID,
        messages: [
          user,
          choice!.message,
          { role: 'tool', tool_call_id: call.id, content: '{"degrees":4}' },
        ],
        tools: [tool],
        tool_choice: 'none',
        max_tokens: 8,
        seed,
      });
      expect(after.choices[0]?.message.tool_calls).toBeUndefined();
    }
  });

  it('stream a call of a tool, and get the usage as they ask for it', async () => {
    const request = {
      model: ID,
      messages: [user],
      tools: [tool],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      seed: 4,
      stream: true,
    } satisfies OpenAI.ChatCompletionCreateParamsStreaming;
    const asked = await openai.chat.completions.create({
      ...request,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of asked) chunks.push(chunk);
    const args = chunks.map(
      ({ choices }) => choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '',
    );
    expect(valid(args.join(''))).toBe(true);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: expect.any(Number) },
    });
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    let last: OpenAI.ChatCompletionChunk | undefined;
    for await (const chunk of await openai.chat.completions.create(request)) last = chunk;
    expect(last).toMatchObject({
      choices: [{ finish_reason: 'tool_calls' }],
      usage: { completion_tokens: expect.any(Number) },
    });
  });

  it('keep a schema, and say which word of one cannot be kept', async () => {
    const asked = (schema: Record<string, unknown>) =>
      openai.chat.completions.create({
        model: ID,
        messages: [user],
        response_format: { type: 'json_schema', json_schema: { name: 'weather', schema } },
        seed: 1,
      });
    const { choices } = await asked(weather);
    expect(valid(choices[0]!.message.content!)).toBe(true);
    const wrong = { type: 'object', properties: { n: { type: 'integer', multipleOf: 2 } } };
    await expect(asked(wrong)).rejects.toMatchObject({
      status: 400,
      param: 'response_format.json_schema.schema.properties.n.multipleOf',
      message: expect.stringContaining('llamacpp'),
    });
  });

  it('ask the Responses API, whole and streamed', async () => {
    const request = { model: ID, input: 'Hello', instructions: 'Be short.', max_output_tokens: 12 };
    const whole = await openai.responses.create(request);
    expect(whole).toMatchObject({
      object: 'response',
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 12 },
    });
    expect(whole.output_text.length).toBeGreaterThan(0);
    const types: string[] = [];
    let text = '';
    for await (const event of await openai.responses.create({ ...request, stream: true })) {
      types.push(event.type);
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.incomplete')
        expect(event.response.output_text ?? text).toBe(text);
    }
    expect(types.slice(0, 4)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
    ]);
    expect(types.slice(-4)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.incomplete',
    ]);
  });

  it('call functions through the Responses API, and refuse what is not kept', async () => {
    const { type, function: named } = tool;
    const request: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model: ID,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] }],
      tools: [{ type, ...named, strict: true }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    };
    const { output } = await openai.responses.create(request);
    const [call] = output;
    if (call?.type !== 'function_call') throw new TypeError('no call of a function');
    expect(valid(call.arguments)).toBe(true);
    const result = { type: 'function_call_output', call_id: call.call_id, output: '4' } as const;
    const after = await openai.responses.create({
      ...request,
      input: [...(request.input as []), call, result],
      tool_choice: 'none',
      max_output_tokens: 5,
    });
    expect(after.status).toBe('incomplete');
    for (const [refused, param] of [
      [{ store: true }, 'store'],
      [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
      [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
      [{ text: { verbosity: 'low' } }, 'text.verbosity'],
      [{ text: { shade: 'x' } }, 'text.shade'],
      [{ reasoning: { summary: 'auto' } }, 'reasoning.summary'],
      [
        { stream: true, stream_options: { include_obfuscation: true } },
        'stream_options.include_obfuscation',
      ],
    ] as const)
      await expect(
        openai.responses.create({ model: ID, input: 'x', ...refused } as never),
      ).rejects.toMatchObject({ status: 400, param });
  });

  it('ask the Messages API, whole and streamed, with tools', async () => {
    const request = {
      model: ID,
      max_tokens: 200,
      system: [{ type: 'text', text: 'Be short.' }],
      messages: [user],
      tools: [{ name: 'weather', input_schema: weather as never }],
      tool_choice: { type: 'tool', name: 'weather' },
    } satisfies Anthropic.MessageCreateParamsNonStreaming;
    const whole = await anthropic.messages.create(request);
    expect(whole).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'tool_use' });
    const [block] = whole.content;
    if (block?.type !== 'tool_use') throw new TypeError('no use of a tool');
    expect(ajv.validate(weather, block.input)).toBe(true);
    const streamed = await anthropic.messages.stream(request).finalMessage();
    expect(streamed.content[0]).toMatchObject({ type: 'tool_use', name: 'weather' });
    expect(streamed.usage.input_tokens).toBe(whole.usage.input_tokens);
    const { tool_choice: _choice, ...free } = request;
    const after = await anthropic.messages.create({
      ...free,
      messages: [
        user,
        { role: 'assistant', content: whole.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: block.id, content: '4' }],
        },
      ],
      max_tokens: 6,
    });
    expect(after.usage.output_tokens).toBe(6);
  });

  it('count tokens as an answer counts them, and read errors in their own form', async () => {
    const request = { model: ID, messages: [user], system: 'Be short.' };
    const { input_tokens: counted } = await anthropic.messages.countTokens(request);
    const answer = await anthropic.messages.create({ ...request, max_tokens: 1 });
    expect(counted).toBe(answer.usage.input_tokens);
    expect(answer.stop_reason).toBe('max_tokens');
    await expect(
      anthropic.messages.create({ ...request, model: 'nobody', max_tokens: 1 }),
    ).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
    await expect(anthropic.messages.create({ ...request, max_tokens: 0 })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    );
    const stranger = new Anthropic({
      baseURL: `${server.url}/api/mlx`,
      apiKey: 'no',
      maxRetries: 0,
    });
    await expect(stranger.messages.countTokens(request)).rejects.toMatchObject({ status: 401 });
  });

  it('get vectors of length 1, the same for the same text, in both encodings', async () => {
    const texts = ['bacedi', 'fogu', 'bacedi'];
    const { data, usage } = await openai.embeddings.create({ model: ID, input: texts });
    expect(usage.prompt_tokens).toBe(usage.total_tokens);
    expect(data[0]?.embedding).toEqual(data[2]?.embedding);
    expect(data[0]?.embedding).not.toEqual(data[1]?.embedding);
    expect(Math.hypot(...data[1]!.embedding)).toBeCloseTo(1, 5);
    const exact = await openai.embeddings.create({
      model: ID,
      input: texts[0]!,
      encoding_format: 'float',
    });
    exact.data[0]!.embedding.forEach((value, index) =>
      expect(value).toBeCloseTo(data[0]!.embedding[index]!, 6),
    );
    const tokens = await openai.embeddings.create({ model: ID, input: [[300, 301], [302]] });
    expect(tokens.data.length).toBe(2);
    await expect(openai.embeddings.create({ model: ID, input: [9999] })).rejects.toMatchObject({
      param: 'input',
    });
    await expect(
      openai.embeddings.create({ model: ID, input: 'x', dimensions: 4 }),
    ).rejects.toMatchObject({ param: 'dimensions' });
  });

  it('end the work when they leave', async () => {
    const abort = new AbortController();
    const begin = async (seed: number) => {
      const stream = await openai.chat.completions.create(
        { model: ID, messages: [user], stream: true, max_tokens: 1900, seed },
        { signal: abort.signal },
      );
      for await (const _chunk of stream) return;
    };
    // As many as the model answers at once.
    await Promise.all([begin(3), begin(4)]);
    abort.abort();
    const begun = Date.now();
    // Both places of the model are free again: two answers at once do not wait for those that were left.
    await Promise.all(
      [1, 2].map((seed) =>
        openai.completions.create({ model: ID, prompt: 'x', max_tokens: 1, seed }),
      ),
    );
    expect(server.logs.join('')).not.toContain('How is the weather?');
    expect(Date.now() - begun).toBeLessThan(1000);
  });
});
