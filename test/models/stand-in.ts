import { existsSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Stands in for `mlx_lm.server`, which needs Apple's library: the same command line, the same HTTP API, spaced as
 * Python writes JSON, and words instead of a model.
 */
const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    'log-level': { type: 'string' },
  },
  strict: true,
});
const model = values.model ?? '';
if (!existsSync(join(model, 'config.json'))) {
  process.stderr.write(`FileNotFoundError: ${join(model, 'config.json')}\n`);
  process.exit(1);
}
if (process.env['JWT_SECRET'] !== undefined || process.env['HF_TOKEN'] !== undefined)
  process.exit(3);

const WORDS = ['I', ' am', ' not', ' a', ' model', '.'];

const dump = (value: unknown) =>
  JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll('{ ', '{')
    .replaceAll(' }', '}')
    .replaceAll('[ ', '[')
    .replaceAll(' ]', ']');
const send = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(dump(body));

createServer((request, response) => {
  if (request.url === '/health') return void send(response, { status: 'ok' });
  if (request.url === '/v1/models')
    return void send(response, {
      object: 'list',
      data: [{ id: 'some/cached-model', object: 'model', created: 1 }],
    });
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
      return void response.writeHead(404).end('Not Found');
    const {
      model: asked = 'default_model',
      stream = false,
      stream_options: options = {},
      logprobs = false,
      messages,
    } = JSON.parse(Buffer.concat(chunks).toString());
    // Any other name is one that it would fetch and load.
    if (asked !== 'default_model')
      return void send(response, { error: `cannot load ${asked}` }, 404);
    if (messages.at(-1)?.content === 'crash') process.exit(70);
    const head = {
      id: 'chatcmpl-1',
      system_fingerprint: 'stand-in',
      object: stream ? 'chat.completion.chunk' : 'chat.completion',
      model: asked,
      created: 1,
    };
    const usage = {
      prompt_tokens: 1,
      completion_tokens: WORDS.length,
      total_tokens: 1 + WORDS.length,
    };
    if (!stream)
      return void send(response, {
        ...head,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: WORDS.join('') },
            finish_reason: 'stop',
            // Only a whole answer has them.
            ...(logprobs && { logprobs: { content: WORDS.map((_, id) => ({ id, logprob: -1 })) } }),
          },
        ],
        usage,
      });
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    for (const content of WORDS)
      response.write(
        `data: ${dump({ ...head, choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })}\n\n`,
      );
    response.write(
      `data: ${dump({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
    );
    if (options.include_usage) response.write(`data: ${dump({ ...head, choices: [], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
}).listen(Number(values.port), values.host);
