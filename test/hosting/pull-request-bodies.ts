import { createHmac } from 'node:crypto';

/** What the body of a test is about. */
export interface Told {
  /** GitHub's word; the other hosts have their own for it. */
  readonly action: 'opened' | 'synchronize' | 'reopened' | 'closed' | 'labeled';
  readonly number: number;
  readonly commit: string;
  readonly branch?: string;
  /** From another repository. */
  readonly fork?: boolean;
  /** From a repository that was deleted. */
  readonly gone?: boolean;
  /** When it was changed, as ISO 8601 with whole seconds. */
  readonly at?: string;
}

/** A delivery of a git host: its body and the headers that it sends beside the usual ones. */
export interface Delivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const BEFORE = '6dcb09b5b57875f334f61aebed695e2e4193db5e';

/** In the form that GitHub sends, without fields that are addresses of its API. */
export function fromGitHub(told: Told, secret: string): Delivery {
  const { action, number, commit, branch = 'change', at = '2026-03-01T12:00:00Z' } = told;
  const base = { id: 186_853_002, node_id: 'MDEwOlJlcG9zaXRvcnkx', name: 'shop' };
  const repository = { ...base, full_name: 'Codertocat/shop', private: true, fork: false };
  const forked = { ...repository, id: 200_000_001, full_name: 'Stranger/shop', fork: true };
  const body = JSON.stringify({
    action,
    number,
    ...(action === 'synchronize' && { before: BEFORE, after: commit }),
    pull_request: {
      id: 279_147_437,
      number,
      state: action === 'closed' ? 'closed' : 'open',
      locked: false,
      title: 'Update the page.',
      user: { login: 'Codertocat', id: 21_031_067, type: 'User' },
      body: 'This is a pretty simple change that we need to pull into master.',
      created_at: '2026-03-01T10:00:00Z',
      updated_at: at,
      draft: false,
      merged: action === 'closed',
      head: {
        label: `Codertocat:${branch}`,
        ref: branch,
        sha: commit,
        repo: told.gone ? null : told.fork ? forked : repository,
      },
      base: { label: 'Codertocat:main', ref: 'main', sha: BEFORE, repo: repository },
    },
    repository,
    sender: { login: 'Codertocat', id: 21_031_067, type: 'User' },
  });
  return {
    body,
    headers: {
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-event': 'pull_request',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': `sha256=${sign(body, secret)}`,
    },
  };
}

/** In the form that Gitea and Forgejo send: GitHub's with other words, and GitHub's headers too. */
export function fromGitea(told: Told, secret: string): Delivery {
  const { action, number, commit, branch = 'change', at = '2026-03-01T12:00:00Z' } = told;
  const owner = { id: 1, login: 'gitea', full_name: '', email: 'gitea@example.com' };
  const repository = { id: 1, owner, name: 'shop', full_name: 'gitea/shop', fork: false };
  const forked = { ...repository, id: 7, full_name: 'stranger/shop', fork: true };
  const word = { synchronize: 'synchronized', labeled: 'label_updated' }[action as string];
  const body = JSON.stringify({
    action: word ?? action,
    number,
    pull_request: {
      id: 42,
      number,
      user: owner,
      title: 'Update the page',
      state: action === 'closed' ? 'closed' : 'open',
      is_locked: false,
      mergeable: true,
      merged: action === 'closed',
      merge_base: BEFORE,
      head: {
        label: branch,
        ref: branch,
        sha: commit,
        repo_id: told.fork ? 7 : 1,
        repo: told.gone ? null : told.fork ? forked : repository,
      },
      base: { label: 'main', ref: 'main', sha: BEFORE, repo_id: 1, repo: repository },
      created_at: '2026-03-01T10:00:00Z',
      updated_at: at,
    },
    repository,
    sender: owner,
    commit_id: '',
    review: null,
  });
  const type = action === 'synchronize' ? 'pull_request_sync' : 'pull_request';
  return {
    body,
    headers: {
      'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473',
      'x-gitea-event': 'pull_request',
      'x-gitea-event-type': type,
      'x-gogs-event': 'pull_request',
      'x-github-event': 'pull_request',
      'x-gitea-signature': sign(body, secret),
      'x-hub-signature-256': `sha256=${sign(body, secret)}`,
    },
  };
}

/** In the form that GitLab sends: another body, and the secret itself in a header. */
export function fromGitLab(told: Told, secret: string): Delivery {
  const { action, number, commit, branch = 'change', at = '2026-03-01T12:00:00Z' } = told;
  const words: Readonly<Record<string, string>> = {
    ...{ opened: 'open', synchronize: 'update', reopened: 'reopen' },
    ...{ closed: 'merge', labeled: 'update' },
  };
  const project = { id: 1, name: 'Shop', path_with_namespace: 'gitlabhq/shop' };
  const body = JSON.stringify({
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: { id: 1, name: 'Administrator', username: 'root' },
    project: { ...project, default_branch: 'main' },
    object_attributes: {
      id: 99,
      iid: number,
      target_branch: 'main',
      source_branch: branch,
      source_project_id: told.gone ? null : told.fork ? 14 : 1,
      target_project_id: 1,
      title: 'Update the page',
      created_at: '2026-03-01 10:00:00 UTC',
      updated_at: at.replace('T', ' ').replace('Z', ' UTC'),
      state: action === 'closed' ? 'merged' : 'opened',
      merge_status: 'unchecked',
      draft: false,
      last_commit: {
        id: commit,
        message: 'fixed readme',
        timestamp: '2026-03-01T12:00:00+00:00',
        author: { name: 'GitLab dev user', email: 'gitlabdev@dv6700.(none)' },
      },
      action: words[action],
      ...(action === 'synchronize' && { oldrev: BEFORE }),
    },
    labels: [],
    changes: {},
    repository: { name: 'Shop', homepage: 'http://example.com/gitlabhq/shop' },
  });
  return {
    body,
    headers: {
      'x-gitlab-event': 'Merge Request Hook',
      'x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954e',
      'x-gitlab-token': secret,
    },
  };
}

const sign = (body: string, secret: string) =>
  createHmac('sha256', secret).update(body).digest('hex');
