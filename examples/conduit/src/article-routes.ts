import { failure } from '@twofold/runtime';
import type * as types from './generated/types.ts';
import {
  ARTICLE,
  type ArticleRead,
  COMMENT,
  type CommentRead,
  toArticle,
  toComment,
  toListed,
} from './views.ts';

/** Articles, their comments and favourites, and tags. */
export const articleRoutes: types.Routes = (router) => {
  router.get('/api/articles', { query: 'ArticleQuery' }, (ctx) => {
    const { tag, author, favorited, limit, offset } = ctx.query;
    const filter = {
      ...(tag && { tags: { some: { name: { eq: tag } } } }),
      ...(author && { author: { username: { eq: author } } }),
      ...(favorited && { favoritedBy: { some: { username: { eq: favorited } } } }),
    };
    return articleList(ctx, filter, { limit, offset });
  });

  // It stands before `/:slug`, which would take it for an article.
  router.get('/api/articles/feed', { auth: 'user', query: 'Page' }, (ctx) => {
    const followers = { some: { id: ctx.user!.id } };
    return articleList(ctx, { author: { followers } }, ctx.query);
  });

  router.get('/api/articles/:slug', (ctx) => articleView(ctx, ctx.params.slug));

  router.post('/api/articles', { auth: 'user', body: 'ArticleBody' }, async (ctx) => {
    const { tagList, ...fields } = ctx.request.body.article;
    // The author is left out: a new row belongs to its caller, as the schema says by `owner`.
    const input = { ...fields, tags: { connectOrCreate: tagsOf(tagList ?? []) } };
    const { createArticle } = await ctx.graphql<{ createArticle: ArticleRead }>(
      `mutation ($input: ArticleInput!) { createArticle(input: $input) { ${ARTICLE} } }`,
      { input },
    );
    ctx.status = 201;
    return { article: toArticle(createArticle) };
  });

  router.put('/api/articles/:slug', { auth: 'user', body: 'ArticleChangeBody' }, async (ctx) => {
    const { tagList, ...fields } = ctx.request.body.article;
    // `set: []` takes all tags off before these are put on, in whatever order they are written.
    const tags = tagList && { set: [], connectOrCreate: tagsOf(tagList) };
    const { updateArticle } = await ctx.graphql<{ updateArticle: ArticleRead | null }>(
      `mutation ($slug: String!, $input: ArticlePatch!) {
        updateArticle(slug: $slug, input: $input) { ${ARTICLE} } }`,
      { slug: ctx.params.slug, input: { ...fields, ...(tags && { tags }) } },
    );
    return { article: toArticle(articleOrNotFound(updateArticle)) };
  });

  router.delete('/api/articles/:slug', { auth: 'user' }, async (ctx) => {
    articleOrNotFound(await ctx.data.article.delete({ where: { slug: ctx.params.slug } }));
  });

  router.post('/api/articles/:slug/favorite', { auth: 'user' }, async (ctx) => {
    await setFavorite(ctx, ctx.params.slug, 'connect');
    return articleView(ctx, ctx.params.slug);
  });

  router.delete('/api/articles/:slug/favorite', { auth: 'user' }, async (ctx) => {
    await setFavorite(ctx, ctx.params.slug, 'disconnect');
    return articleView(ctx, ctx.params.slug);
  });

  router.get('/api/articles/:slug/comments', async (ctx) => {
    const articleId = await idOf(ctx, ctx.params.slug);
    const { comments } = await ctx.graphql<{ comments: CommentRead[] }>(
      `query ($articleId: ID!) {
        comments(articleId: $articleId, orderBy: { createdAt: DESC }) { ${COMMENT} } }`,
      { articleId },
    );
    return { comments: comments.map(toComment) };
  });

  router.post(
    '/api/articles/:slug/comments',
    { auth: 'user', body: 'CommentBody' },
    async (ctx) => {
      const articleId = await idOf(ctx, ctx.params.slug);
      const { body } = ctx.request.body.comment;
      const data = { body, articleId, authorId: ctx.user!.id };
      const { id } = await ctx.data.comment.create({ data });
      const { comment } = await ctx.graphql<{ comment: CommentRead }>(
        `query ($id: ID!) { comment(id: $id) { ${COMMENT} } }`,
        { id },
      );
      ctx.status = 201;
      return { comment: toComment(comment) };
    },
  );

  router.delete('/api/articles/:slug/comments/:id', { auth: 'user' }, async (ctx) => {
    const articleId = await idOf(ctx, ctx.params.slug);
    const { id } = ctx.params;
    const comment = await ctx.data.comment.findUnique({ where: { id } });
    if (comment?.articleId !== articleId) throw failure.notFound('Comment not found');
    await ctx.data.comment.delete({ where: { id } });
  });

  router.get('/api/tags', async (ctx) => {
    const tags = await ctx.data.tag.findMany({ orderBy: { name: 'asc' } });
    return { tags: tags.map(({ name }) => name) };
  });
};

interface ListRead {
  readonly articles: readonly ArticleRead[];
  readonly articlesAggregate: { readonly count: number };
}

/** The row of an article. @throws AppError 404 when there is none. */
function articleOrNotFound<Row>(row: Row | null): Row {
  if (row === null) throw failure.notFound('Article not found');
  return row;
}

/** Newest first, with the number of all that match. */
async function articleList(ctx: types.Context, filter: types.ArticleFilter, { limit, offset }: types.Page) {
  const { articles, articlesAggregate } = await ctx.graphql<ListRead>(
    `query ($filter: ArticleFilter, $limit: Int, $offset: Int) {
      articles(filter: $filter, orderBy: { createdAt: DESC }, limit: $limit, offset: $offset) { ${ARTICLE} }
      articlesAggregate(filter: $filter) { count } }`,
    { filter, limit, offset },
  );
  return { articles: articles.map(toListed), articlesCount: articlesAggregate.count };
}

async function articleView(ctx: types.Context, slug: string) {
  const { article } = await ctx.graphql<{ article: ArticleRead | null }>(
    `query ($slug: String!) { article(slug: $slug) { ${ARTICLE} } }`,
    { slug },
  );
  return { article: toArticle(articleOrNotFound(article)) };
}

const idOf = async (ctx: types.Context, slug: string) =>
  articleOrNotFound(await ctx.data.article.findUnique({ where: { slug } })).id;

/** Marks an article as a favourite of the caller, or no longer: a list of the caller's own row. Twice is once. */
async function setFavorite(ctx: types.Context, slug: string, how: 'connect' | 'disconnect') {
  const data = { favorites: { [how]: await idOf(ctx, slug) } };
  await ctx.data.user.update({ where: { id: ctx.user!.id }, data });
}

/** A tag that is not there yet gets its name from `where`. */
const tagsOf = (names: readonly string[]) =>
  [...new Set(names)].map((name) => ({ where: { name }, create: {} }));
