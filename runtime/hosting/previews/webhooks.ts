import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type PullRequestEvent, readPullRequest } from './pull-request.ts';
import { failure } from '@twofold/runtime/errors';

/** The headers and the exact bytes of a webhook request, which are signed. */
export interface Push {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** The meaning of a webhook request. */
export type PushEvent =
  | { readonly kind: 'ping' }
  | {
      readonly kind: 'push';
      readonly branch: string;
      readonly commit: string;
      readonly deleted: boolean;
    }
  | PullRequestEvent
  | { readonly kind: 'other' };

export const createWebhookSecret = () => randomBytes(32).toString('hex');

/**
 * Whether a push was signed with the secret by GitHub (`X-Hub-Signature-256`), Gitea or Forgejo
 * (`X-Gitea-Signature`) or GitLab (`X-Gitlab-Token`). The check takes the same time for every wrong
 * signature.
 *
 * @example
 * isSigned({ headers: request.headers, body }, secret)
 */
export function isSigned({ headers, body }: Push, secret: string): boolean {
  const mac = createHmac('sha256', secret).update(body).digest('hex');
  const github = headerText(headers, 'x-hub-signature-256');
  const gitea =
    headerText(headers, 'x-gitea-signature') || headerText(headers, 'x-forgejo-signature');
  const gitlab = headerText(headers, 'x-gitlab-token');
  const results = [isEqual(github, `sha256=${mac}`), isEqual(gitea, mac), isEqual(gitlab, secret)];
  return results.includes(true);
}

/**
 * Identifies a delivery by its signed bytes. The sender's own id is in a header that is not signed,
 * so an old body could be sent again with a new id.
 */
export const deliveryId = ({ body }: Push) => createHash('sha256').update(body).digest('hex');

/** The events of GitHub, Gitea and Forgejo (two of them), and GitLab. */
const PULL_REQUEST = /^(pull_request|pull_request_sync|Merge Request Hook)$/;

/**
 * Reads a push or a pull request. Everything else is `other`. @throws AppError 400 when it
 * cannot be read, with a message for the user of the git host.
 */
export function readPush({ headers, body }: Push): PushEvent {
  const name =
    headerText(headers, 'x-github-event') ||
    headerText(headers, 'x-gitea-event') ||
    headerText(headers, 'x-gitlab-event');
  if (name === 'ping') return { kind: 'ping' };
  if (PULL_REQUEST.test(name)) return readPullRequest(parse(body));
  if (!/^(push|Push Hook)$/.test(name)) return { kind: 'other' };
  const payload = parse(body);
  const { ref } = payload;
  if (typeof ref !== 'string') throw failure.badRequest('ref is required');
  if (!ref.startsWith('refs/heads/')) return { kind: 'other' };
  const commit = String(payload['after'] ?? payload['checkout_sha'] ?? '').slice(0, 64);
  return {
    kind: 'push',
    branch: ref.slice('refs/heads/'.length),
    commit,
    deleted: payload['deleted'] === true || /^0{40}/.test(commit),
  };
}

function parse(body: Buffer): Record<string, unknown> {
  const value = readJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw failure.badRequest(
      'The body is not a JSON object: the webhook must send application/json',
    );
  return value as Record<string, unknown>;
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((value) =>
    createHmac('sha256', 'compare').update(value).digest(),
  );
  return given !== '' && timingSafeEqual(a as Buffer, b as Buffer);
}

function headerText(headers: Push['headers'], name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
