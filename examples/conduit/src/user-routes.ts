import { failure } from '@twofold/runtime';
import type * as types from './generated/types.ts';

/** Registration, sign-in, the user's own row, and profiles. */
export const userRoutes: types.Routes = (router) => {
  router.post('/api/users', { body: 'RegisterBody' }, async (ctx) => {
    const login = await ctx.auth.register(ctx.request.body.user);
    if (!login) throw failure.forbidden('Verify your address first');
    ctx.status = 201;
    return userView(ctx, login.id, login.accessToken);
  });

  router.post('/api/users/login', { body: 'LoginBody', limit: '60/1m' }, async (ctx) => {
    const login = await ctx.auth.login(ctx.request.body.user);
    return userView(ctx, login.id, login.accessToken);
  });

  router.get('/api/user', { auth: 'user' }, (ctx) => userView(ctx, ctx.user!.id, tokenOf(ctx)));

  router.put('/api/user', { auth: 'user', body: 'UserBody' }, (ctx) =>
    ctx.transaction(async () => {
      const { id } = ctx.user!;
      // What is not sent is undefined, and stays as it is.
      const { password, email, username, bio, image } = ctx.request.body.user;
      await ctx.data.user.update({ where: { id }, data: { bio, image } });
      // Address and name belong to the account, which the data API does not write.
      await ctx.auth.setIdentity(id, { email: email ?? undefined, username: username ?? undefined });
      if (!password) return userView(ctx, id, tokenOf(ctx));
      // A new password ends every session, so the answer has the token of a new one.
      await ctx.auth.setPassword(id, password);
      return userView(ctx, id, (await ctx.auth.issue(id)).accessToken);
    }),
  );

  router.get('/api/profiles/:username', (ctx) => profileView(ctx, ctx.params.username));

  router.post('/api/profiles/:username/follow', { auth: 'user' }, async (ctx) => {
    await setFollowing(ctx, ctx.params.username, 'connect');
    return profileView(ctx, ctx.params.username);
  });

  router.delete('/api/profiles/:username/follow', { auth: 'user' }, async (ctx) => {
    await setFollowing(ctx, ctx.params.username, 'disconnect');
    return profileView(ctx, ctx.params.username);
  });
};

/** The token that the request was signed in with. */
const tokenOf = ({ headers }: Pick<types.Context, 'headers'>) =>
  String(headers['authorization']).split(' ')[1] ?? '';

/** With the address, which the rules of the schema hide from everybody: `sudo` reads past them. */
async function userView(ctx: types.Context, id: string, token: string) {
  const user = await ctx.sudo().data.user.findUnique({ where: { id } });
  if (!user) throw failure.notFound('User not found');
  const { email, username, bio = null, image = null } = user;
  return { user: { email, token, username, bio, image } };
}

async function profileView(ctx: types.Context, username: string) {
  const { user } = await ctx.graphql(
    'query ($username: String!) { user(username: $username) { username bio image following } }',
    { username },
  );
  if (!user) throw failure.notFound('Profile not found');
  return { profile: user };
}

/** Follows somebody, or no longer: a list of the caller's own row. Twice is once. */
async function setFollowing(ctx: types.Context, username: string, how: 'connect' | 'disconnect') {
  const followed = await ctx.data.user.findUnique({ where: { username } });
  if (!followed) throw failure.notFound('Profile not found');
  const data = { follows: { [how]: followed.id } };
  await ctx.data.user.update({ where: { id: ctx.user!.id }, data });
}
