import type { GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from './context/request-context.ts';

/**
 * What a field would answer without a function of yours: its inferred action, with the same rules, limits and events. A
 * resolver that took its place calls it with what it got, or with other arguments. The value is for returning: it holds what
 * the caller asked for, under the names of the answer.
 *
 * @throws AppError what the action throws: `FORBIDDEN`, `BAD_USER_INPUT`, `CONFLICT`, …; InternalError when nothing is inferred.
 * @example
 * createPost: async (parent, args, ctx, info) => {
 *   const post = await inferred(parent, args, ctx, info);
 *   ctx.log.info({ title: args.input.title }, 'posted');
 *   return post;
 * }
 */
export async function inferred(
  parent: unknown,
  args: unknown,
  ctx: RequestContext,
  info: GraphQLResolveInfo,
): Promise<any> {
  const { answerInferred } = await import('./graphql/inferred.ts');
  return answerInferred(
    parent as Readonly<Record<string, unknown>>,
    args as Readonly<Record<string, unknown>>,
    ctx,
    info,
  );
}
