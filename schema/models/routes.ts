import type { JsonSchema, RouteSpec } from '../routes/route.ts';

const text = { type: 'string' } as const;
const bytes = { type: 'integer', minimum: 0 } as const;
const id = { type: 'string', minLength: 1, maxLength: 200 } as const;

const errorBody: JsonSchema = { type: 'object', properties: { error: text }, required: ['error'] };
const REFUSED = { description: 'The reason; nothing was changed', schema: errorBody } as const;
const refused = { 400: REFUSED, 401: REFUSED, 403: REFUSED, 500: REFUSED } as const;
const onModel = { ...refused, 404: REFUSED, 409: REFUSED } as const;
/** 507: too little disk or memory. 502: the model hub or the engine failed. */
const onMachine = { ...onModel, 413: REFUSED, 502: REFUSED, 503: REFUSED, 507: REFUSED } as const;

const model: JsonSchema = {
  type: 'object',
  required: ['id', 'name', 'size_bytes', 'format', 'quantization', 'status'],
  properties: {
    id: { ...text, description: 'org/name, as on the hub' },
    name: text,
    size_bytes: { ...bytes, description: 'Rounded until the hub has returned the exact size' },
    format: {
      enum: ['gguf', 'mlx', 'remote'],
      description: 'remote: the model is on the attached server',
    },
    quantization: { type: ['string', 'null'] },
    status: { enum: ['available', 'downloading', 'downloaded', 'running'] },
    licence: { type: ['string', 'null'] },
    context: {
      type: ['integer', 'null'],
      description: 'The most tokens of the context that the model was trained for',
    },
    runnable: {
      type: 'boolean',
      description: 'Whether the engine of this server runs this format',
    },
    progress: { type: 'number', minimum: 0, maximum: 1 },
    downloaded_bytes: bytes,
    path: text,
    error: { ...text, description: 'Why its last download or start failed' },
    kind: { enum: ['chat', 'embedding', 'rerank', null], description: 'null: not downloaded' },
    loaded: { type: 'boolean', description: 'Whether it is in memory' },
  },
};

const sizes = { total: bytes, free: bytes } as const;
const memory: JsonSchema = {
  type: 'object',
  properties: {
    ram: { type: 'object', properties: sizes },
    gpus: { type: 'array', items: { type: 'object', properties: { name: text, ...sizes } } },
    layers_on_gpu: { ...bytes, description: 'Of all models in memory' },
  },
};

const modelList: JsonSchema = {
  type: 'object',
  required: ['models', 'running', 'engine', 'eligible'],
  properties: {
    models: { type: 'array', items: model },
    total: bytes,
    running: {
      type: ['string', 'null'],
      description: 'The model that was used last of those in memory',
    },
    memory,
    engine: { enum: ['mlx', 'llamacpp', 'openai', null] },
    eligible: { type: 'boolean' },
    reason: { ...text, description: 'Why no model can run on this server' },
    state: { enum: ['stopped', 'starting', 'running', 'restarting'] },
  },
};

const modelBody: JsonSchema = {
  type: 'object',
  properties: { model: id },
  required: ['model'],
  additionalProperties: false,
};
const stopBody: JsonSchema = {
  type: 'object',
  properties: { model: id },
  additionalProperties: false,
};
const downloadBody: JsonSchema = {
  type: 'object',
  properties: {
    file: { ...id, description: 'Of a repository with several models' },
    revision: { ...id, description: 'Branch, tag or commit' },
  },
  additionalProperties: false,
};
const amount = { type: 'number', exclusiveMinimum: 0, maximum: 1e15 } as const;
const budget: JsonSchema = {
  type: 'object',
  description: 'Limits; one that is absent is none',
  properties: {
    requests_per_minute: { ...bytes, minimum: 1, maximum: 1e9 },
    tokens_per_minute: { ...bytes, minimum: 1, maximum: 1e12 },
    tokens_per_day: { ...bytes, minimum: 1, maximum: 1e12 },
    money_per_day: { ...amount, maximum: 1e6 },
  },
  additionalProperties: false,
};
const keyProperties = {
  name: { type: 'string', minLength: 1, maxLength: 100 },
  models: {
    type: 'array',
    items: id,
    minItems: 1,
    maxItems: 100,
    description: 'Ids and aliases that it may use; * stands for any text',
  },
  budget,
} as const;
const period = { type: 'string', maxLength: 20, description: '90d, 12h, 30m' } as const;
const keyBody: JsonSchema = {
  type: 'object',
  properties: { ...keyProperties, expires_in: period },
  required: ['name'],
  additionalProperties: false,
};
const keyChanges: JsonSchema = {
  type: 'object',
  properties: { ...keyProperties, expires_in: { ...period, type: ['string', 'null'] } },
  minProperties: 1,
  additionalProperties: false,
};
const modelKey: JsonSchema = {
  type: 'object',
  required: ['id', 'name', 'prefix', 'models', 'budget'],
  properties: {
    id: text,
    ...keyProperties,
    prefix: text,
    key: { ...text, description: 'mk_…; only in the answer that creates it' },
    created_at: text,
    expires_at: { type: ['string', 'null'] },
    use: {
      type: 'object',
      description: 'Spent and reserved now',
      properties: {
        requests_in_minute: bytes,
        tokens_in_minute: bytes,
        tokens_today: bytes,
        money_today: { type: 'number' },
      },
    },
  },
};
const keyList: JsonSchema = {
  type: 'object',
  required: ['keys', 'total'],
  properties: { keys: { type: 'array', items: modelKey }, total: bytes },
};
const counts = {
  requests: bytes,
  failed: bytes,
  input_tokens: bytes,
  output_tokens: bytes,
  money: { type: 'number' },
} as const;
const usageList: JsonSchema = {
  type: 'object',
  required: ['usage', 'total', 'unpriced'],
  properties: {
    usage: {
      type: 'array',
      items: { type: 'object', properties: { at: text, key: text, model: text, ...counts } },
    },
    total: { type: 'object', properties: counts },
    unpriced: {
      type: 'array',
      items: text,
      description: 'Models without a price; their money is 0',
    },
  },
};

const pullBody: JsonSchema = {
  type: 'object',
  properties: { model: id, ...(downloadBody['properties'] as object) },
  required: ['model'],
  additionalProperties: false,
};
const response = (description: string, schema: JsonSchema = model) => ({ description, schema });
const secured = { tag: 'models' } as const;
const reads = { ...secured, access: 'models:read' } as const;
const writes = { ...secured, access: 'models:write' } as const;

/** The audit log's description of the model in a request. */
const ofOrganization = { target: '{org}/{name}' } as const;
const byId = { target: '{id}' } as const;
const inBody = { target: '{model}' } as const;

const showRoute = {
  ...reads,
  method: 'GET',
  summary: 'Returns one model',
  responses: { 200: response('The model'), ...onModel },
} as const;
const downloadRoute = {
  ...writes,
  method: 'POST',
  summary: 'Downloads a model, or continues an interrupted download',
  responses: {
    200: response('It was downloaded before'),
    202: response('It is being downloaded'),
    ...onMachine,
  },
} as const;
const cancelRoute = {
  ...writes,
  method: 'DELETE',
  summary: 'Cancels a download and removes its files',
  responses: { 200: response('The model'), ...onModel },
} as const;
const removeRoute = {
  ...writes,
  method: 'DELETE',
  summary: 'Removes a model from the disk',
  responses: { 200: response('It was removed'), ...onModel },
} as const;
const startRoute = {
  ...writes,
  method: 'POST',
  summary: 'Loads a model, and responds when it is ready',
  body: { kind: 'json', schema: modelBody },
  audit: inBody,
  responses: { 200: response('The model'), ...onMachine },
} as const;
const openAiRoute = {
  ...reads,
  path: '/api/mlx/v1/*path',
  summary: 'Forwards a call of the OpenAI API to the running model',
} as const;
const openAiResponses = {
  200: { description: 'The response of the OpenAI API; `text/event-stream` when `stream` is true' },
  ...onModel,
  413: REFUSED,
  429: REFUSED,
  502: REFUSED,
  503: REFUSED,
} as const;

/**
 * The endpoints for language models. A model's id contains a slash, which may be percent-encoded
 * (`org%2Fname`) or not, so each path with an id is listed twice.
 */
export const modelRoutes = [
  {
    ...{
      ...reads,
      id: 'listModels',
      method: 'GET',
      path: '/api/mlx/models',
      summary: 'Lists the models, and whether they can run on this server',
    },
    query: {
      format: { type: 'string', enum: ['gguf', 'mlx', 'remote'] },
      status: { type: 'string', enum: ['available', 'downloading', 'downloaded', 'running'] },
    },
    responses: { 200: response('The models', modelList), ...refused },
  },
  { ...showRoute, id: 'getModel', path: '/api/mlx/models/:id' },
  { ...showRoute, id: 'getModelOf', path: '/api/mlx/models/:org/:name' },
  {
    ...downloadRoute,
    id: 'downloadModel',
    path: '/api/mlx/models/:id/download',
    body: { kind: 'json', schema: downloadBody, optional: true },
    audit: byId,
  },
  {
    ...downloadRoute,
    id: 'downloadModelOf',
    path: '/api/mlx/models/:org/:name/download',
    body: { kind: 'json', schema: downloadBody, optional: true },
    audit: { ...ofOrganization, action: 'downloadModel' },
  },
  { ...cancelRoute, id: 'cancelDownload', path: '/api/mlx/models/:id/download', audit: byId },
  {
    ...cancelRoute,
    id: 'cancelDownloadOf',
    path: '/api/mlx/models/:org/:name/download',
    audit: { ...ofOrganization, action: 'cancelDownload' },
  },
  { ...removeRoute, id: 'deleteModel', path: '/api/mlx/models/:id', audit: byId },
  {
    ...removeRoute,
    id: 'deleteModelOf',
    path: '/api/mlx/models/:org/:name',
    audit: { ...ofOrganization, action: 'deleteModel' },
  },
  {
    ...downloadRoute,
    id: 'pullModel',
    path: '/api/mlx/pull',
    body: { kind: 'json', schema: pullBody },
    audit: inBody,
  },
  { ...startRoute, id: 'startModel', path: '/api/mlx/start' },
  { ...startRoute, id: 'runModel', path: '/api/mlx/run' },
  {
    ...writes,
    id: 'stopModel',
    method: 'POST',
    path: '/api/mlx/stop',
    audit: inBody,
    summary: 'Unloads one model, or all',
    body: { kind: 'json', schema: stopBody, optional: true },
    responses: { 200: response('It was stopped'), ...refused },
  },
  {
    ...writes,
    id: 'createModelKey',
    method: 'POST',
    path: '/api/mlx/keys',
    summary:
      'Creates a key that opens the API of the models and nothing else; its text is shown once',
    body: { kind: 'json', schema: keyBody },
    audit: { target: 'model-key:{id}', values: ['name', 'models', 'budget'] },
    responses: { 201: response('The key', modelKey), ...refused },
  },
  {
    ...reads,
    id: 'listModelKeys',
    method: 'GET',
    path: '/api/mlx/keys',
    summary: 'Lists the keys for models, and what they use of their budgets',
    responses: { 200: response('The keys', keyList), ...refused },
  },
  {
    ...writes,
    id: 'updateModelKey',
    method: 'PATCH',
    path: '/api/mlx/keys/:id',
    summary: 'Changes a key for models, or gives an API key of the server a budget',
    body: { kind: 'json', schema: keyChanges },
    audit: { target: 'model-key:{id}', values: ['name', 'models', 'budget'] },
    responses: { 200: response('The key', modelKey), ...onModel },
  },
  {
    ...writes,
    id: 'deleteModelKey',
    method: 'DELETE',
    path: '/api/mlx/keys/:id',
    summary: 'Removes a key for models',
    audit: { target: 'model-key:{id}' },
    responses: { 204: { description: 'It was removed' }, ...onModel },
  },
  {
    ...reads,
    id: 'getModelUsage',
    method: 'GET',
    path: '/api/mlx/usage',
    summary: 'Returns requests, tokens and money by key and model',
    query: {
      key: id,
      model: id,
      from: { type: 'string', maxLength: 40, description: 'ISO 8601; whole hours' },
      to: { type: 'string', maxLength: 40 },
      by: { type: 'string', enum: ['hour', 'day'] },
    },
    responses: { 200: response('The usage', usageList), ...refused },
  },
  { ...openAiRoute, id: 'askModel', method: 'GET', responses: openAiResponses },
  {
    ...openAiRoute,
    id: 'promptModel',
    method: 'POST',
    body: { kind: 'stream', type: 'application/json', schema: { type: 'object' } },
    responses: openAiResponses,
  },
] as const satisfies readonly RouteSpec[];
