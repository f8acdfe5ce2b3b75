// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { aggregate, count, create, exists, get, list, many, one, remove, through, update } from '@twofold/runtime';

/** The resolver of each field. A field that is not listed is a column, or a property of its parent's value. */
export const fields = {
  Article: {
    author: one('User', 'author_id', { inverse: 'articles' }),
    tags: many('Tag', through('article_tags', 'article_id', 'tag_id'), { inverse: 'articles', paged: true, max: 1000 }),
    comments: many('Comment', 'article_id', { inverse: 'article', paged: true, max: 1000 }),
    favoritedBy: many('User', through('article_favorited_by', 'article_id', 'user_id'), { inverse: 'favorites', paged: true, max: 1000 }),
    favorited: exists('User', 'favoritedBy', { kind: 'compare', column: 'id', operator: 'eq', caller: true }),
    favoritesCount: count('User', 'favoritedBy'),
  },
  Comment: {
    article: one('Article', 'article_id', { inverse: 'comments' }),
    author: one('User', 'author_id'),
  },
  Mutation: {
    createArticle: create('Article', { write: 'ArticleInput:Article', input: 'input' }),
    updateArticle: update('Article', [{ slug: 'slug' }], { write: 'ArticlePatch:Article', input: 'input' }),
    deleteArticle: remove('Article', [{ slug: 'slug' }], { returns: 'boolean' }),
  },
  Query: {
    user: get('User', { username: 'username' }),
    article: get('Article', { slug: 'slug' }),
    articles: list('Article', {
      where: { arg: 'filter', shape: 'ArticleFilter' },
      orderBy: { arg: 'orderBy', shape: 'ArticleOrder' },
      page: { limit: 'limit', offset: 'offset' },
      max: 100,
    }),
    articlesAggregate: aggregate('Article', { where: { arg: 'filter', shape: 'ArticleFilter' }, max: 1000 }),
    comment: get('Comment', { id: 'id' }),
    comments: list('Comment', {
      filters: { articleId: 'article_id' },
      orderBy: { arg: 'orderBy', shape: 'CommentOrder' },
      paged: true,
      max: 1000,
    }),
    tags: list('Tag', { paged: true, max: 1000 }),
  },
  Tag: {
    articles: many('Article', through('article_tags', 'tag_id', 'article_id'), { inverse: 'tags', paged: true, max: 1000 }),
  },
  User: {
    follows: many('User', through('follows', 'follower_id', 'user_id'), { inverse: 'followers', paged: true, max: 1000 }),
    followers: many('User', through('follows', 'user_id', 'follower_id'), { inverse: 'follows', paged: true, max: 1000 }),
    articles: many('Article', 'author_id', { inverse: 'author', paged: true, max: 1000 }),
    favorites: many('Article', through('article_favorited_by', 'user_id', 'article_id'), { inverse: 'favoritedBy', paged: true, max: 1000 }),
    following: exists('User', 'followers', { kind: 'compare', column: 'id', operator: 'eq', caller: true }),
  },
};
