import type { RouteSpec } from '../../routes/route.ts';
import { refused, signedIn, tag } from './answers.ts';

const names = (description: string) => ({
  type: 'array',
  items: { type: 'string' },
  description,
});
const text = { type: ['string', 'null'] } as const;
const states = {
  applied: names('The database has them'),
  pending: names('They are not applied yet'),
  draft: names('Every save of the schema writes them again'),
  empty: names('They have no step'),
  changed: names('The file has another text than was applied'),
  missing: names('Applied, and without a file'),
  partial: names('Stopped before the last step'),
  oneWay: names('They cannot be undone'),
} as const;

/** Routes that describe the state of the migrations. */
export const migrationRoutes = [
  {
    id: 'systemMigrations',
    method: 'GET',
    path: '/api/system/migrations',
    access: 'system:read',
    tag,
    summary: 'Migrations by their state, as `migrate status --json` lists them; nothing is applied',
    query: {
      drift: {
        type: 'boolean',
        default: false,
        description: 'Also compares the tables with what the applied migrations make',
      },
    },
    responses: {
      200: {
        description: 'Names of migrations',
        schema: {
          type: 'object',
          required: Object.keys(states),
          properties: {
            ...states,
            drift: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  object: { type: 'string' },
                  kind: { type: 'string', enum: ['missing', 'extra', 'different'] },
                  expected: text,
                  found: text,
                  fix: { type: 'string' },
                },
              },
            },
          },
        },
      },
      ...signedIn,
      409: refused('The role of DATABASE_URL may not create the schema that drift needs'),
    },
  },
] as const satisfies readonly RouteSpec[];
