import type { GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from './context/request-context.ts';

/**
 * Runs the inferred action of a field whose place a resolver took, with the same rules, limits and
 * events. The resolver passes on its own arguments, or others. Return the value as it is: it has
 * the selected fields under their names in the answer.
 *
 * @throws AppError what the action throws: `FORBIDDEN`, `BAD_USER_INPUT`, `CONFLICT`, …;
 * InternalError when nothing is inferred.
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
