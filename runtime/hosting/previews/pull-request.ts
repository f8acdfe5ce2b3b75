import { failure } from '@twofold/runtime/errors';

/** What a git host tells of a pull request (GitLab: merge request). */
export interface PullRequestEvent {
  readonly kind: 'pull_request';
  /** `open`: its commit is to be deployed, because it is new, was pushed to or was reopened. */
  readonly action: 'open' | 'close' | 'other';
  readonly number: number;
  readonly commit: string;
  /** The branch with the changes. */
  readonly branch: string;
  /** Whether the changes come from another repository, or from one that is gone. */
  readonly fork: boolean;
  /** When it was last changed, in milliseconds since 1970; 0 if the host does not say. */
  readonly at: number;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the body of a webhook about a pull request.
 *
 * @throws AppError 400 for a body that is none.
 */
export function readPullRequest(payload: Json): PullRequestEvent {
  const event = 'object_attributes' in payload ? readGitLab(payload) : readGitHub(payload);
  const valid =
    Number.isSafeInteger(event.number) &&
    event.number > 0 &&
    /^[0-9a-f]{40,64}$/.test(event.commit);
  // A pull request that is closed needs no commit.
  if (valid || (event.action !== 'open' && Number.isSafeInteger(event.number))) return event;
  throw failure.badRequest('The body does not describe a pull request: number and commit');
}

/** GitHub says `synchronize` for a push; Gitea and Forgejo, which send the same body, `synchronized`. */
const OPENING = new Set(['opened', 'reopened', 'synchronize', 'synchronized']);

function readGitHub(payload: Json): PullRequestEvent {
  const pull = objectOf(payload['pull_request']);
  const [head, base] = [objectOf(pull['head']), objectOf(pull['base'])];
  const [from, to] = [objectOf(head['repo']), objectOf(base['repo'])];
  const action = String(payload['action']);
  return {
    kind: 'pull_request',
    action: OPENING.has(action) ? 'open' : action === 'closed' ? 'close' : 'other',
    number: Number(payload['number'] ?? pull['number']),
    commit: textOf(head['sha']),
    branch: textOf(head['ref']),
    fork: from['id'] === undefined || from['id'] !== to['id'],
    at: timeOf(pull['updated_at']),
  };
}

function readGitLab(payload: Json): PullRequestEvent {
  const merge = objectOf(payload['object_attributes']);
  return {
    kind: 'pull_request',
    action: gitLabAction(merge),
    number: Number(merge['iid']),
    commit: textOf(objectOf(merge['last_commit'])['id']),
    branch: textOf(merge['source_branch']),
    fork:
      merge['source_project_id'] === undefined ||
      merge['source_project_id'] !== merge['target_project_id'],
    at: timeOf(merge['updated_at']),
  };
}

/** An update has `oldrev` only if it was pushed to; others change a title or a label. */
function gitLabAction({ action, oldrev }: Json): PullRequestEvent['action'] {
  if (action === 'open' || action === 'reopen') return 'open';
  if (action === 'update') return typeof oldrev === 'string' ? 'open' : 'other';
  return action === 'close' || action === 'merge' ? 'close' : 'other';
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 300) : '');

/** GitLab also writes `2026-03-01 12:00:00 UTC`. */
function timeOf(value: unknown): number {
  const time = Date.parse(textOf(value).replace(' UTC', 'Z').replace(' ', 'T'));
  return Number.isNaN(time) ? 0 : time;
}
