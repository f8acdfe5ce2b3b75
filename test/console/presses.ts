import { APPS } from './app-presses.ts';
import { ADMIN, confirmed, opens, type Place } from './press.ts';
import { USERS } from './user-presses.ts';
import { MODEL } from './whole-server.ts';

const WEBHOOK = `${ADMIN}/webhooks`;

/** Everything but the pages of one row, which `data-grid.test.ts` edits. */
export const PLACES: readonly Place[] = [
  {
    at: '/',
    presses: [
      { button: 'Show as table', sees: ['table', '*'] },
      { button: 'Show as plot', sees: ['img', '*'] },
      { button: 'Hide', sees: ['heading', 'Overview'] },
    ],
  },
  {
    at: '/graphql?query={posts{id}}',
    presses: [
      { button: 'Prettify', sees: ['textbox', 'Operation'] },
      { button: 'Run', call: 'POST /graphql', sees: ['region', 'Result'] },
      { button: 'Stop', sees: ['button', 'Stop'] },
      {
        ...{ button: 'Save', dialog: 'Save query', fill: { Name: 'mine' }, go: 'Save' },
        sees: ['list', 'Saved queries'],
      },
      { button: 'mine', sees: ['textbox', 'Operation'] },
      { button: 'Remove mine', dialog: 'Remove', go: 'Remove' },
      { button: 'Explain', call: 'POST /api/system/explain', sees: ['region', 'Plan'] },
      { button: 'Docs', sees: ['region', 'Documentation'] },
      { button: 'Query', sees: ['button', 'All types'] },
      { button: 'All types', sees: ['button', 'Mutation'] },
      { button: 'Mutation', sees: ['button', 'All types'] },
    ],
  },
  {
    at: '/data/posts',
    presses: [
      opens('Filter', 'Filter'),
      opens('Columns', 'Columns'),
      {
        ...{ button: 'New row', dialog: 'New Post', fill: { title: 'Made here' }, go: 'Create' },
        call: 'POST /api/posts',
      },
      { button: 'Export', sees: ['menu', 'Export'] },
    ],
  },
  {
    at: '/data/posts?as=admin',
    presses: [
      {
        ...{ button: 'New row', dialog: 'New Post', fill: { title: 'By hand' }, go: 'Create' },
        ...{ call: 'POST /api/data/posts', audit: 'createPostAsAdmin' },
      },
      opens('Filter', 'Filter'),
      opens('Columns', 'Columns'),
      { button: 'Export', sees: ['menu', 'Export'] },
    ],
  },
  { at: '/data/posts?row=1', presses: [{ button: 'Close', sees: ['grid', 'Post'] }] },
  ...USERS,
  ...APPS,
  {
    at: `/models?q=${MODEL}`,
    presses: [
      {
        ...{ button: `Download ${MODEL}`, sees: ['button', `Delete ${MODEL}`] },
        ...{ call: 'POST /api/mlx/models/*', audit: 'downloadModel*' },
      },
      {
        ...{ button: `Delete ${MODEL}`, dialog: 'Delete', go: 'Delete' },
        ...{ call: 'DELETE /api/mlx/models/*', audit: 'deleteModel*' },
      },
    ],
  },
  {
    at: '/logs',
    presses: [
      { button: 'Pause', sees: ['button', 'Resume'] },
      { button: 'Resume', sees: ['button', 'Pause'] },
      { button: 'Download', sees: ['log', 'Log lines'] },
      { button: 'Clear', sees: ['log', 'Log lines'] },
    ],
  },
  {
    at: '/jobs?tab=failed',
    presses: [{ button: 'Retry', call: 'POST /api/system/jobs/*/retry', audit: 'retryJob' }],
  },
  {
    at: '/jobs?tab=waiting&job=3',
    presses: [
      {
        ...{ button: 'Cancel job', dialog: 'Cancel job', go: 'Cancel job' },
        ...{ call: 'POST /api/system/jobs/*/cancel', audit: 'cancelJob' },
      },
      { button: 'Close job', sees: ['tab', 'Waiting*'] },
    ],
  },
  {
    at: '/webhooks',
    presses: [
      {
        ...{ button: 'Send test event', sees: ['status', 'The receiver answered 204'] },
        ...{ call: `POST ${WEBHOOK}/*/test`, audit: 'testWebhook' },
      },
      {
        ...{ button: 'Redeliver', call: `POST ${WEBHOOK}/*/deliveries/*/redeliver` },
        audit: 'redeliverWebhook',
      },
      {
        ...{ button: 'Edit', dialog: 'Edit webhook', fill: { Events: 'user.*' }, go: 'Save' },
        ...{ call: `PATCH ${WEBHOOK}/*`, audit: 'updateWebhook' },
      },
      {
        ...{ button: 'Rotate secret', dialog: 'Rotate secret', go: 'Rotate secret' },
        ...{ fill: { Overlap: '1h' }, sees: ['dialog', 'Webhook secret'] },
        ...{ call: `POST ${WEBHOOK}/*/rotate`, audit: 'rotateWebhook' },
      },
      { button: 'Disable', call: `PATCH ${WEBHOOK}/*`, sees: ['button', 'Enable'] },
      { button: 'Enable', call: `PATCH ${WEBHOOK}/*`, sees: ['button', 'Disable'] },
      { button: 'Next page', call: `GET ${WEBHOOK}/*/deliveries`, optional: true },
      { button: 'Previous page', call: `GET ${WEBHOOK}/*/deliveries`, optional: true },
      { button: 'First page', call: `GET ${WEBHOOK}/*/deliveries`, optional: true },
      confirmed('Delete webhook', { call: `DELETE ${WEBHOOK}/*`, audit: 'deleteWebhook' }),
      {
        ...{ button: 'New webhook', dialog: 'New webhook', go: 'Create webhook' },
        ...{ fill: { URL: 'http://127.0.0.1:9/x', Events: '*' } },
        ...{ sees: ['dialog', 'Webhook secret'], call: `POST ${WEBHOOK}`, audit: 'createWebhook' },
      },
    ],
  },
  {
    at: '/schema?type=Post',
    presses: [
      { button: 'Zoom in', sees: ['img', 'Model graph'] },
      { button: 'Zoom out', sees: ['img', 'Model graph'] },
      { button: 'Fit', sees: ['img', 'Model graph'] },
      { button: 'Compare again', call: 'GET /api/system/migrations' },
      { button: 'Close type', sees: ['table', 'Types'] },
    ],
  },
  {
    at: '/audit',
    presses: [{ button: '*', call: 'GET /api/system/audit', sees: ['table', 'Audit'] }],
  },
  { at: '/settings', presses: [] },
  {
    at: '/pages/sales',
    presses: [
      { button: 'Show as table', sees: ['table', '*'] },
      { button: 'Show as plot', sees: ['img', '*'] },
    ],
  },
];

/** Buttons that another row presses, or another test: of staged rows, of a model that runs. */
export const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  '/data/posts?row=1': ['Filter', 'Columns', 'New row', 'Export'],
  '/data/posts': ['Delete rows', 'Discard changes', 'Save changes'],
  // The types that the documentation names.
  '/graphql': ['Author*', 'Post*', 'State*', 'ID*', 'Int', 'String*', 'Boolean*', 'JSON', '[*]!'],
  // A user who was just made has their page.
  '/users': [
    ...['Disable', 'Unlock', 'Send password reset', 'Delete user', 'New API key'],
    'End all sessions',
    'End session from *',
    'New user',
  ],
  '/models': ['Start *', 'Stop *', 'Cancel *', 'Download *', 'Send', 'Stop generating'],
  '/apps': [
    ...['Deploy', 'Stop', 'Roll back', 'Delete app', 'Show as table', 'Start', 'Restart'],
    ...['New app', 'Create webhook', 'Replace secret', 'Remove webhook', 'Verifying'],
  ],
  '/jobs': ['Cancel job', 'Retry'],
};
