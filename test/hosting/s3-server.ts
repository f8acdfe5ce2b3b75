import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The keys of AWS's published examples of Signature Version 4. */
export const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE';
export const SECRET_KEY = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

/** What a signature is made of. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signedHeaders: readonly string[];
  /** `20130524/us-east-1/s3/aws4_request` */
  readonly scope: string;
}

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();

/** The signature that a request must have: "Authenticating Requests: Using the Authorization Header". */
export function signatureOf(request: SignedRequest, secret = SECRET_KEY): string {
  const { method, headers, signedHeaders, scope } = request;
  const [path = '', query = ''] = request.url.split('?');
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('='));
  const canonical = [
    method,
    path,
    pairs
      .map(([name = '', value = '']) => `${name}=${value}`)
      .sort()
      .join('&'),
    ...signedHeaders.map((name) => `${name}:${(headers[name] ?? '').trim()}`),
    '',
    signedHeaders.join(';'),
    headers['x-amz-content-sha256'] ?? '',
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const [date = '', region = '', service = '', end = ''] = scope.split('/');
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), end);
  return hmac(key, text).toString('hex');
}

/** Looks at a request before it is served, and says whether the server does as usual. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface S3Server {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** Uploads that are neither completed nor aborted, by their id. */
  readonly uploads: Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>;
  /** `PUT /bucket/key` and so on, in their order. */
  readonly requests: string[];
  /** The next request that matches meets this fault, once. */
  fail(matches: RegExp, fault: Fault): void;
  close(): Promise<void>;
}

const REGION = 'eu-test-1';
const MIN_PART = 5 * 1024 * 1024;
/** Objects on one page of a list. */
const PAGE = 2;

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message = code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A server of one bucket, `backups`, that takes nothing which S3 would not take. */
export async function startS3(): Promise<S3Server> {
  const state = {
    objects: new Map<string, Buffer>(),
    uploads: new Map<string, { key: string; parts: Map<number, Buffer> }>(),
    requests: [] as string[],
  };
  const faults: { matches: RegExp; fault: Fault }[] = [];
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`;
    const at = faults.findIndex(({ matches }) => matches.test(line));
    if (at >= 0 && !faults.splice(at, 1)[0]!.fault(request, response)) return;
    serve(state, request, response).catch((error: Error) => {
      const { status = 500, code = 'InternalError' } = error as Partial<Refusal>;
      response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
      response.end(
        `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${error.message}</Message></Error>`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...state,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (matches, fault) => void faults.push({ matches, fault }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type State = Pick<S3Server, 'objects' | 'requests'> & {
  readonly uploads: Map<string, { key: string; parts: Map<number, Buffer> }>;
};

async function serve(state: State, request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  authenticate(request, body);
  const url = new URL(request.url!, 'http://s3');
  state.requests.push(`${request.method} ${request.url}`);
  const [, bucket, key] = /^\/([^/]+)\/(.*)$/.exec(decodeURIComponent(url.pathname)) ?? [];
  if (bucket !== 'backups') throw new Refusal(404, 'NoSuchBucket');
  const given = { request, response, query: url.searchParams, key: key!, body };
  if (key === '') return list(state, given);
  if (request.method === 'PUT') return put(state, given);
  if (request.method === 'POST') return post(state, given);
  if (request.method === 'DELETE') return remove(state, given);
  return get(state, given);
}

interface Given {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly key: string;
  readonly body: Buffer;
}

function authenticate(request: IncomingMessage, body: Buffer): void {
  const headers = request.headers as Record<string, string>;
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers['authorization'] ?? '',
    );
  if (!given) throw new Refusal(403, 'AccessDenied');
  const [, id, scope = '', signed = '', signature] = given;
  if (id !== ACCESS_KEY) throw new Refusal(403, 'InvalidAccessKeyId');
  const date = headers['x-amz-date'] ?? '';
  const time = Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  if (!(Math.abs(Date.now() - time) < 15 * 60_000)) throw new Refusal(403, 'RequestTimeTooSkewed');
  if (scope !== `${date.slice(0, 8)}/${REGION}/s3/aws4_request`)
    throw new Refusal(400, 'AuthorizationHeaderMalformed', `the region is ${REGION}`);
  const signedHeaders = signed.split(';');
  const needed = Object.keys(headers).filter(
    (name) => name === 'host' || name.startsWith('x-amz-'),
  );
  if (needed.some((name) => !signedHeaders.includes(name))) throw new Refusal(403, 'AccessDenied');
  const expected = signatureOf({
    ...{ method: request.method!, url: request.url!, headers, signedHeaders, scope },
  });
  if (signature !== expected) throw new Refusal(403, 'SignatureDoesNotMatch');
  if (headers['x-amz-content-sha256'] !== sha256(body))
    throw new Refusal(400, 'XAmzContentSHA256Mismatch');
  const sends = request.method === 'PUT' || request.method === 'POST';
  if (sends && headers['content-length'] === undefined)
    throw new Refusal(411, 'MissingContentLength');
}

const tagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`;

function put({ objects, uploads }: State, { response, query, key, body }: Given): void {
  const id = query.get('uploadId');
  if (id === null) objects.set(key, body);
  else {
    const upload = uploads.get(id);
    if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload');
    upload.parts.set(Number(query.get('partNumber')), body);
  }
  response.writeHead(200, { etag: tagOf(body) }).end();
}

function post({ objects, uploads }: State, { response, query, key, body }: Given): void {
  if (query.has('uploads')) {
    const id = `upload&${uploads.size + 1}`;
    uploads.set(id, { key, parts: new Map() });
    const shown = id.replace('&', '&amp;');
    return void response.end(
      `<InitiateMultipartUploadResult><UploadId>${shown}</UploadId></InitiateMultipartUploadResult>`,
    );
  }
  const id = query.get('uploadId') ?? '';
  const upload = uploads.get(id);
  if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload');
  const named = [
    ...body
      .toString()
      .matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag><\/Part>/g),
  ];
  const parts = named.map(([, number, tag], index) => {
    const part = upload.parts.get(Number(number));
    if (Number(number) !== index + 1) throw new Refusal(400, 'InvalidPartOrder');
    if (!part || tagOf(part) !== tag) throw new Refusal(400, 'InvalidPart');
    if (part.length < MIN_PART && index < named.length - 1)
      throw new Refusal(400, 'EntityTooSmall');
    return part;
  });
  if (parts.length === 0) throw new Refusal(400, 'MalformedXML');
  objects.set(key, Buffer.concat(parts));
  uploads.delete(id);
  response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
}

function remove({ objects, uploads }: State, { response, query, key }: Given): void {
  const id = query.get('uploadId');
  if (id === null) objects.delete(key);
  else if (!uploads.delete(id)) throw new Refusal(404, 'NoSuchUpload');
  response.writeHead(204).end();
}

function get({ objects }: State, { request, response, key }: Given): void {
  const bytes = objects.get(key);
  if (!bytes) throw new Refusal(404, 'NoSuchKey', 'The specified key does not exist.');
  const wanted = request.headers['if-match'];
  if (wanted !== undefined && wanted !== tagOf(bytes)) throw new Refusal(412, 'PreconditionFailed');
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  response.writeHead(from > 0 ? 206 : 200, {
    etag: tagOf(bytes),
    'content-length': bytes.length - from,
  });
  response.end(bytes.subarray(from));
}

function list({ objects }: State, { response, query }: Given): void {
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(query.get('prefix') ?? ''))
    .sort();
  const from = Number(query.get('continuation-token') ?? 0);
  const more = from + PAGE < keys.length;
  const shown = keys
    .slice(from, from + PAGE)
    .map((key) => `<Contents><Key>${key.replaceAll('&', '&amp;')}</Key></Contents>`);
  const next = more ? `<NextContinuationToken>${from + PAGE}</NextContinuationToken>` : '';
  response.end(
    `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${shown.join('')}</ListBucketResult>`,
  );
}
