import { ADDRESS, ERROR, ID, object, SHORT, TIME, TOKEN } from './route-shapes.ts';
import type { JsonSchema, RouteSpec } from '../routes/route.ts';

const tag = 'organizations';
const refused = (description: string) => ({ description, schema: ERROR });
const ok = (description: string, schema: RouteSpec['responses'][number]['schema']) => ({
  description,
  ...(schema && { schema }),
});
const listOf = (name: string, item: JsonSchema) =>
  object({ [name]: { type: 'array', items: item }, total: { type: 'integer' } }, [name, 'total']);

const ORGANIZATION = object(
  { id: ID, name: { type: ['string', 'null'] }, role: { type: 'string' } },
  ['id', 'name', 'role'],
);
const MEMBER = object(
  {
    user_id: ID,
    first_name: SHORT,
    last_name: SHORT,
    username: SHORT,
    avatar_url: SHORT,
    role: SHORT,
    joined_at: TIME,
    email: { type: 'string', description: 'Only for those who manage the organization' },
  },
  ['user_id', 'role', 'joined_at'],
);
const INVITATION = object({ id: SHORT, email: SHORT, role: SHORT, expires_at: TIME }, [
  'id',
  'email',
  'role',
  'expires_at',
]);
const JOINED = object({ organization_id: ID, role: SHORT }, ['organization_id', 'role']);

const unknown = { 401: refused('No valid bearer token'), 404: refused('Organization not found') };
const managed = { ...unknown, 403: refused('Not by this role') };
const answered = {
  200: ok('The organization and the role', JOINED),
  400: refused('Invalid or expired token'),
  401: refused('No valid bearer token'),
  403: refused('Another address, or one that is not verified'),
};

/** Routes of organizations, their members and invitations; served with `auth.organizations`. */
export const organizationRoutes = [
  {
    id: 'organizations',
    method: 'GET',
    path: '/api/auth/organizations',
    access: 'session',
    tag,
    summary: 'The organizations of the caller',
    responses: {
      200: ok('The organizations', listOf('organizations', ORGANIZATION)),
      401: refused('No valid bearer token'),
    },
  },
  {
    id: 'createOrganization',
    method: 'POST',
    path: '/api/auth/organizations',
    access: 'session',
    tag,
    summary:
      'Make an organization, with the fields of its type; the caller has the first role in it',
    body: { kind: 'json', schema: { type: 'object', additionalProperties: true } },
    responses: {
      201: ok('The organization', ORGANIZATION),
      400: refused('A field is missing or not acceptable'),
      401: refused('No valid bearer token'),
      403: refused('Only administrators make organizations here'),
    },
  },
  {
    id: 'members',
    method: 'GET',
    path: '/api/auth/organizations/:id/members',
    access: 'session',
    tag,
    summary: 'The members of an organization',
    responses: { 200: ok('The members', listOf('members', MEMBER)), ...unknown },
  },
  {
    id: 'changeMember',
    method: 'PATCH',
    path: '/api/auth/organizations/:id/members/:user_id',
    access: 'session',
    tag,
    summary: 'Give a member another role',
    body: { kind: 'json', schema: object({ role: SHORT }, ['role']) },
    responses: {
      200: ok('The member', object({ user_id: ID, role: SHORT })),
      400: refused('There is no such role'),
      ...managed,
      409: refused('Cannot remove the last owner'),
    },
  },
  {
    id: 'removeMember',
    method: 'DELETE',
    path: '/api/auth/organizations/:id/members/:user_id',
    access: 'session',
    tag,
    summary: 'Remove a member, or leave',
    responses: {
      204: ok('Removed', undefined),
      ...managed,
      409: refused('Cannot remove the last owner'),
    },
  },
  {
    id: 'invitations',
    method: 'GET',
    path: '/api/auth/organizations/:id/invitations',
    access: 'session',
    tag,
    summary: 'The invitations of an organization that are still good',
    responses: { 200: ok('The invitations', listOf('invitations', INVITATION)), ...managed },
  },
  {
    id: 'invite',
    method: 'POST',
    path: '/api/auth/organizations/:id/invitations',
    access: 'session',
    tag,
    summary: 'Invite an address by mail; a second invitation replaces the first',
    body: { kind: 'json', schema: object({ email: ADDRESS, role: SHORT }, ['email', 'role']) },
    responses: {
      201: ok('The invitation', INVITATION),
      400: refused('There is no such role, or no such address'),
      ...managed,
      409: refused('Already a member'),
      503: refused('No way to send mail'),
    },
  },
  {
    id: 'revokeInvitation',
    method: 'DELETE',
    path: '/api/auth/organizations/:id/invitations/:invitation_id',
    access: 'session',
    tag,
    summary: 'Take an invitation back',
    responses: { 204: ok('Taken back', undefined), ...managed },
  },
  {
    id: 'acceptInvitation',
    method: 'POST',
    path: '/api/auth/invitations/accept',
    access: 'session',
    tag,
    summary: 'Join the organization of an invitation',
    body: { kind: 'json', schema: object({ token: TOKEN }, ['token']) },
    responses: answered,
  },
  {
    id: 'declineInvitation',
    method: 'POST',
    path: '/api/auth/invitations/decline',
    access: 'session',
    tag,
    summary: 'Decline an invitation',
    body: { kind: 'json', schema: object({ token: TOKEN }, ['token']) },
    responses: answered,
  },
] as const satisfies readonly RouteSpec[];

const IDS = new Set<string>(organizationRoutes.map(({ id }) => id));

/** Whether the route is one of organizations. */
export const isOrganizationRoute = ({ id }: Pick<RouteSpec, 'id'>): boolean => IDS.has(id);
