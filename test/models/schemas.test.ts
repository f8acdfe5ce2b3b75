import { Ajv2020 } from 'ajv/dist/2020.js';
import { addFormats } from './formats.ts';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeLlama } from './available.ts';
import { startHub, type TestHub } from './hub.ts';
import { randomNumbers, randomSchema } from './random-schemas.ts';
import { type ModelsServer, startModels } from './server.ts';
import { tinyModel } from './tiny-gguf.ts';

/** `SCHEMAS=1000 npx vitest run test/models/schemas.test.ts` before a release; `SCHEMAS_FROM=501` leaves out the first. */
const SCHEMAS = Number(process.env['SCHEMAS'] ?? 24);
const FROM = Number(process.env['SCHEMAS_FROM'] ?? 1);
const AT_ONCE = 2;
vi.setConfig({ testTimeout: 60_000 + SCHEMAS * 2000 });

const ID = 'tests/noise-GGUF';
const ajv = addFormats(new Ajv2020({ strict: false }));

describeLlama('a model of noise', () => {
  let hub: TestHub;
  let server: ModelsServer;
  beforeAll(async () => {
    hub = await startHub({
      [ID]: { files: { 'noise.gguf': tinyModel({ seed: 11, context: 8192 }) } },
    });
    server = await startModels({ hub: hub.url, list: [ID], env: { MODELS_PARALLEL: '2' } });
    await server.call('POST', '/api/mlx/pull', { model: ID });
    await server.until(ID, ({ status }) => status === 'downloaded');
    await server.call('POST', '/api/mlx/start', { model: ID });
  });
  afterAll(async () => {
    await server?.end();
    await hub?.close();
  });

  const ask = (body: object) =>
    server.call('POST', '/api/mlx/v1/chat/completions', {
      model: ID,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 600,
      ...body,
    });

  let cut = 0;
  /** What is wrong with the answer to a schema, or null. An answer may be cut by `max_tokens`. */
  async function problemOf(seed: number, called: boolean): Promise<string | null> {
    const schema = randomSchema(randomNumbers(seed));
    const parameters = {
      type: 'object',
      properties: { v: schema },
      required: ['v'],
      ...defsOf(schema),
    };
    const { status, body, text } = await ask(
      called
        ? {
            ...{ seed, tool_choice: 'required', parallel_tool_calls: false },
            tools: [{ type: 'function', function: { name: 'f', parameters } }],
          }
        : { seed, response_format: { type: 'json_schema', json_schema: { name: 's', schema } } },
    );
    if (status !== 200) return `${seed}: refused with ${text}: ${JSON.stringify(schema)}`;
    const [{ message, finish_reason: reason }] = body.choices;
    if (reason === 'length') cut += 1;
    if (reason === 'length') return null;
    const json = called ? message.tool_calls[0].function.arguments : message.content;
    const isValid = ajv.validate(called ? parameters : schema, JSON.parse(json));
    return isValid ? null : `${seed}: ${json} for ${JSON.stringify(schema)}: ${ajv.errorsText()}`;
  }

  it(`keeps to each of ${SCHEMAS} random schemas, as an answer and as a call`, async () => {
    const problems: string[] = [];
    for (let seed = FROM; seed < FROM + SCHEMAS; seed += AT_ONCE) {
      const seeds = Array.from({ length: AT_ONCE }, (_, index) => seed + index);
      const found = await Promise.all(seeds.map((each) => problemOf(each, each % 3 === 0)));
      problems.push(...found.filter((problem) => problem !== null));
    }
    expect(problems).toEqual([]);
    expect(cut).toBeLessThan(SCHEMAS / 4);
  });

  it('may only call whole and valid where a tool is strict, though it may also talk', async () => {
    const parameters = { type: 'object', properties: { n: { enum: [7] } }, required: ['n'] };
    const tools = [{ type: 'function', function: { name: 'seven', strict: true, parameters } }];
    for (const seed of [1, 2, 3]) {
      const { status, body } = await ask({ tools, seed, max_tokens: 60 });
      expect(status).toBe(200);
      const { content, tool_calls: calls = [] } = body.choices[0].message;
      if (body.choices[0].finish_reason === 'stop' || calls.length === 0)
        expect(content ?? '').not.toContain('<tool_call>');
      else for (const call of calls) expect(JSON.parse(call.function.arguments)).toEqual({ n: 7 });
    }
  });

  it('is not asked at all when a schema has a word that no grammar keeps', async () => {
    const refused: [object, string][] = [
      [{ type: 'array', uniqueItems: true }, 'uniqueItems'],
      [{ type: 'string', format: 'email' }, 'format'],
      [{ type: 'string', pattern: '(?=x)' }, 'pattern'],
      [{ type: 'object', properties: { a: { not: {} } } }, 'properties.a.not'],
      [{ allOf: [{ type: 'object' }] }, 'allOf'],
      [{ $ref: '#/$defs/nowhere' }, '$ref'],
      [{ anyOf: [{ $ref: '#' }] }, ''],
      [{ type: 'integer', minimum: 3, maximum: 2 }, ''],
      [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, ''],
      [{ type: 'string', maxLength: 1e9 }, 'maxLength'],
    ];
    for (const [schema, word] of refused) {
      const path = `response_format.json_schema.schema${word === '' ? '' : `.${word}`}`;
      expect(
        await ask({ response_format: { type: 'json_schema', json_schema: { name: 's', schema } } }),
        JSON.stringify(schema),
      ).toMatchObject({ status: 400, body: { error: { param: path } } });
    }
  });
});

/** `$defs` are looked up from the root of a schema. */
const defsOf = (schema: Record<string, unknown>) => {
  const { $defs } = schema;
  return $defs === undefined ? {} : { $defs };
};
