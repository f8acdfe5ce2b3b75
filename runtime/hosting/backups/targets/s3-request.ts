import { createHash } from 'node:crypto';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { targetFailed } from '../failures.ts';

/** Where an S3 bucket is, and the key to it. */
export interface S3Options {
  /** As `https://s3.eu-west-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region?: string;
  /** A folder in the bucket. */
  readonly prefix?: string;
  /** Whether the bucket is the first part of the path, and not of the host name. */
  readonly path_style?: boolean;
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

export interface S3Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  /** Below the bucket; empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Buffer[];
}

/** An answer that is no success. */
export interface S3Refusal extends Error {
  readonly status?: number;
}

/** How often a request is sent, and a download continued, before it fails. */
export const ATTEMPTS = 5;
const FIRST_PAUSE = 200;
/** Milliseconds of silence after which a connection is given up. */
const SILENCE = 60_000;

/**
 * Sends a signed request (SigV4), and repeats it when the connection breaks or the server is not
 * well. The hash of the body is signed, so the server refuses a body that was changed on its way.
 *
 * @throws AppError `BACKUP_TARGET_FAILED` with the reason that the server gave.
 */
export async function callS3(options: S3Options, call: S3Call): Promise<S3Answer> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await send(options, call);
    } catch (error) {
      if (!isPassing(error as S3Refusal) || attempt === ATTEMPTS)
        throw explain(options, call, error as Error);
      await sleep(FIRST_PAUSE * 2 ** (attempt - 1));
    }
}

/** Whether another attempt may succeed: the connection broke, or the server is not well. */
export const isPassing = ({ status }: S3Refusal): boolean =>
  status === undefined || status === 429 || status >= 500;

export interface S3Answer {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

async function send(options: S3Options, call: S3Call): Promise<S3Answer> {
  const answer = await openS3(options, call);
  const text = await readText(answer, LONGEST_ANSWER);
  // S3 may find out that an upload has failed after it has answered 200.
  if (text.includes('<Error>')) throw refusal(answer.statusCode === 200 ? 500 : 400, text);
  return { headers: answer.headers, text };
}

/** Sends a request once. @returns the answer, whose body is not read yet. */
export async function openS3(options: S3Options, call: S3Call): Promise<IncomingMessage> {
  const { method, body = [] } = call;
  const { url, headers } = await sign(options, call);
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = start(url, {
      method,
      timeout: SILENCE,
      headers: {
        ...Object.fromEntries(headers),
        ...(method !== 'GET' && method !== 'HEAD' && { 'content-length': length }),
      },
    });
    sent.on('response', resolve).on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error('it does not answer')));
    for (const part of body) sent.write(part);
    sent.end();
  });
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300) return answer;
  throw refusal(status, await readText(answer, LONGEST_ERROR));
}

/** Characters of an answer that are read: a list of 1000 names, and why a request was refused. */
const LONGEST_ANSWER = 4 * 1024 * 1024;
const LONGEST_ERROR = 4000;

/** The beginning of an answer. The connection of a longer one is closed. */
async function readText(answer: IncomingMessage, limit: number): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > limit) break;
  }
  return text.slice(0, limit);
}

async function sign(options: S3Options, { method, key, query = {}, headers = {}, body }: S3Call) {
  const hash = createHash('sha256');
  for (const part of body ?? []) hash.update(part);
  const signer = new AwsV4Signer({
    method,
    url: addressOf(options, key, query).href,
    service: 's3',
    headers: { ...headers, 'x-amz-content-sha256': hash.digest('hex') },
    region: options.region ?? 'us-east-1',
    accessKeyId: options.access_key_id,
    secretAccessKey: options.secret_access_key,
  });
  return signer.sign();
}

function addressOf(
  { endpoint, bucket, path_style }: S3Options,
  key: string,
  query: Readonly<Record<string, string>>,
): URL {
  const url = new URL(endpoint);
  if (!path_style) url.hostname = `${bucket}.${url.hostname}`;
  const path = key.split('/').map(encode).join('/');
  url.pathname = path_style ? `/${bucket}/${path}` : `/${path}`;
  url.search = Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&');
  return url;
}

/** As SigV4 wants it: only the unreserved characters of RFC 3986 stay. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function refusal(status: number, text: string): S3Refusal {
  const code = textOf(text, 'Code');
  const message = textOf(text, 'Message');
  const why = [code, message].filter(Boolean).join(': ');
  return Object.assign(new Error(why || `it answered ${status}`), { status });
}

function explain({ endpoint, bucket }: S3Options, { method }: S3Call, error: Error): Error {
  const why = `${endpoint} refused ${method} in the bucket ${bucket}: ${error.message}`;
  return targetFailed(why, error);
}

/** The text of the first element of this name in an XML answer. */
export function textOf(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? null : unescapeXml(found);
}

/** The texts of all elements of this name. */
export function textsOf(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'));
  return [...found].map(([, text]) => unescapeXml(text ?? ''));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&amp;': '&',
};

const unescapeXml = (text: string) =>
  text.replace(/&[^;]{1,5};/g, (found) => ENTITIES[found] ?? found);
