// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { EntityData, GraphQLScalarTypeConfig, HooksOf, LoadersOf, MiddlewareOf, MutationsOf, RequestContext, RoutesOf, ScalarMapping, TableOf } from '@twofold/runtime';
import type { schemaTypes as $ } from '@twofold/schema';
import type { loaders } from './loaders.ts';

/** What a resolver gets as `ctx`. */
export type Context = RequestContext<Database, LoadersOf<typeof loaders>, Data>;

/** The type of the function in `src/routes.ts`. */
export type Routes = RoutesOf<Context, $.InputTypes<$Schema>>;

/** The type of a function in `src/middleware.ts`. */
export type Middleware = MiddlewareOf<Context>;

// What the files of `src/resolvers/` may implement of each type.
export type AuthorOverrides = AuthorResolvers;
export type CommentOverrides = CommentResolvers;
export type MutationOverrides = MutationsOf<MutationResolvers>;
export type PostOverrides = PostResolvers;
export type QueryOverrides = QueryResolvers;
export type TagOverrides = TagResolvers;

/** The type of the table in `src/scalars.ts`. */
export type Scalars = Readonly<Record<string, ScalarMapping>>;

/** The tables of `ctx.db`, with the names of the schema. */
export interface Database {
  authors: TableOf<AuthorRow, 'id'>;
  comments: TableOf<CommentRow, 'id'>;
  postTags: {
    postId: string;
    tagId: string;
  };
  posts: TableOf<PostRow, 'id' | 'status'>;
  tags: TableOf<TagRow, 'id'>;
}

/** A row of `authors`: the fields that are columns, and the foreign keys. */
export interface AuthorRow {
  id: string;
  name: string;
  email: string;
}

/** A row of `comments`: the fields that are columns, and the foreign keys. */
export interface CommentRow {
  id: string;
  text: string;
  postId: string;
  createdAt: string;
}

/** A row of `posts`: the fields that are columns, and the foreign keys. */
export interface PostRow {
  id: string;
  title: string;
  body: string;
  status: PostStatus;
  authorId: string;
  createdAt: string;
  updatedAt: string;
}

/** A row of `tags`: the fields that are columns, and the foreign keys. */
export interface TagRow {
  id: string;
  name: string;
}

/** `ctx.data`: rows with the checks, rules and events of the API. */
export interface Data {
  readonly author: EntityData<AuthorShape>;
  readonly comment: EntityData<CommentShape>;
  readonly post: EntityData<PostShape>;
  readonly tag: EntityData<TagShape>;
}

/** What `ctx.data.author` takes and returns. */
export interface AuthorShape {
  row: AuthorRow;
  key: { id: string } | { email: string };
  one: {};
  many: { posts: PostShape };
}

/** What `ctx.data.comment` takes and returns. */
export interface CommentShape {
  row: CommentRow;
  key: { id: string };
  one: { post: PostShape };
  many: {};
  times: 'createdAt';
}

/** What `ctx.data.post` takes and returns. */
export interface PostShape {
  row: PostRow;
  key: { id: string };
  one: { author: AuthorShape };
  many: { comments: CommentShape; tags: TagShape };
  times: 'createdAt' | 'updatedAt';
}

/** What `ctx.data.tag` takes and returns. */
export interface TagShape {
  row: TagRow;
  key: { id: string } | { name: string };
  one: {};
  many: { posts: PostShape };
}

// What the files of `src/hooks/` may hold.
export type AuthorHooks = HooksOf<{ shape: AuthorShape; context: Context; given: 'name' | 'email'; demanded: never; extra: object }>;
export type CommentHooks = HooksOf<{ shape: CommentShape; context: Context; given: 'text' | 'postId'; demanded: never; extra: object }>;
export type PostHooks = HooksOf<{ shape: PostShape; context: Context; given: 'title' | 'body' | 'authorId'; demanded: never; extra: object }>;
export type TagHooks = HooksOf<{ shape: TagShape; context: Context; given: 'name'; demanded: never; extra: object }>;

/** All built-in and custom scalars, mapped to their actual values */
export type ScalarTypes = {
  ID: { input: string; output: string | number; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  DateTime: { input: string; output: string; }
};

/**
 * The schema, with references as the SDL writes them: the types below follow from it.
 */
export interface $Schema {
  scalars: ScalarTypes;
  enums: {
    PostStatus: PostStatus;
  };
  rows: {
    Author: AuthorRow;
    Comment: CommentRow;
    Post: PostRow;
    Tag: TagRow;
  };
  fields: {
    Author: {
      email: 'String!';
      id: 'ID!';
      name: 'String!';
      posts: $.WithArgs<'[Post!]!', { limit?: 'Int'; offset?: 'Int' }>;
    };
    Comment: {
      createdAt: 'DateTime!';
      id: 'ID!';
      post: 'Post!';
      text: 'String!';
    };
    Mutation: {
      createAuthor: $.WithArgs<'Author!', { email: 'String!'; name: 'String!' }>;
      createComment: $.WithArgs<'Comment!', { postId: 'ID!'; text: 'String!' }>;
      createPost: $.WithArgs<'Post!', { input: 'CreatePostInput!' }>;
      createTag: $.WithArgs<'Tag!', { name: 'String!' }>;
      deletePost: $.WithArgs<'Boolean!', { id: 'ID!' }>;
      updatePost?: $.WithArgs<'Post', { id: 'ID!'; input: 'UpdatePostInput!' }>;
    };
    Post: {
      author: 'Author!';
      body: 'String!';
      comments: $.WithArgs<'[Comment!]!', { limit?: 'Int'; offset?: 'Int' }>;
      createdAt: 'DateTime!';
      id: 'ID!';
      /** How many minutes it takes to read. */
      minutes: 'Int!';
      status: 'PostStatus!';
      tags: $.WithArgs<'[Tag!]!', { limit?: 'Int'; offset?: 'Int' }>;
      title: 'String!';
      updatedAt: 'DateTime!';
    };
    Query: {
      author?: $.WithArgs<'Author', { id: 'ID!' }>;
      authorByEmail?: $.WithArgs<'Author', { email: 'String!' }>;
      authors: $.WithArgs<'[Author!]!', { limit?: 'Int'; offset?: 'Int' }>;
      post?: $.WithArgs<'Post', { id: 'ID!' }>;
      posts: $.WithArgs<'[Post!]!', { limit?: 'Int'; offset?: 'Int'; status?: 'PostStatus' }>;
      tags: $.WithArgs<'[Tag!]!', { limit?: 'Int'; offset?: 'Int' }>;
    };
    Tag: {
      id: 'ID!';
      name: 'String!';
      posts: $.WithArgs<'[Post!]!', { limit?: 'Int'; offset?: 'Int' }>;
    };
  };
  possible: {};
  inputs: {
    CreatePostInput: {
      authorId: 'ID!';
      body: 'String!';
      status?: 'PostStatus';
      tagIds?: '[ID!]';
      title: 'String!';
    };
    UpdatePostInput: {
      body?: 'String';
      status?: 'PostStatus';
      tagIds?: '[ID!]';
      title?: 'String';
    };
  };
  oneOf: {};
  roots: 'Query' | 'Mutation' | 'Subscription';
  subscription: 'Subscription';
}

export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
export type RequireFields<T, K extends keyof T> = $.RequireFields<T, K>;
export type ResolverTypeWrapper<T> = $.ResolverTypeWrapper<T>;
export type Resolver<Result, Parent, ContextType, Args = Record<PropertyKey, never>> = $.Resolver<Result, Parent, ContextType, Args>;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = $.ResultTypes<$Schema>;

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = $.ParentTypes<$Schema>;

/** Somebody who writes. */
export type Author = $.ObjectType<$Schema, 'Author'>;
export type AuthorpostsArgs = $.ArgsOf<$Schema, 'Author', 'posts'>;
export type Comment = $.ObjectType<$Schema, 'Comment'>;
export type CreatePostInput = $.InputType<$Schema, 'CreatePostInput'>;
export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}
export type Mutation = $.ObjectType<$Schema, 'Mutation'>;
export type MutationcreateAuthorArgs = $.ArgsOf<$Schema, 'Mutation', 'createAuthor'>;
export type MutationcreateCommentArgs = $.ArgsOf<$Schema, 'Mutation', 'createComment'>;
export type MutationcreatePostArgs = $.ArgsOf<$Schema, 'Mutation', 'createPost'>;
export type MutationcreateTagArgs = $.ArgsOf<$Schema, 'Mutation', 'createTag'>;
export type MutationdeletePostArgs = $.ArgsOf<$Schema, 'Mutation', 'deletePost'>;
export type MutationupdatePostArgs = $.ArgsOf<$Schema, 'Mutation', 'updatePost'>;
export type Post = $.ObjectType<$Schema, 'Post'>;
export type PostcommentsArgs = $.ArgsOf<$Schema, 'Post', 'comments'>;
export type PosttagsArgs = $.ArgsOf<$Schema, 'Post', 'tags'>;
export type PostStatus =
  | 'DRAFT'
  | 'PUBLISHED';
export type Query = $.ObjectType<$Schema, 'Query'>;
export type QueryauthorArgs = $.ArgsOf<$Schema, 'Query', 'author'>;
export type QueryauthorByEmailArgs = $.ArgsOf<$Schema, 'Query', 'authorByEmail'>;
export type QueryauthorsArgs = $.ArgsOf<$Schema, 'Query', 'authors'>;
export type QuerypostArgs = $.ArgsOf<$Schema, 'Query', 'post'>;
export type QuerypostsArgs = $.ArgsOf<$Schema, 'Query', 'posts'>;
export type QuerytagsArgs = $.ArgsOf<$Schema, 'Query', 'tags'>;
export type Tag = $.ObjectType<$Schema, 'Tag'>;
export type TagpostsArgs = $.ArgsOf<$Schema, 'Tag', 'posts'>;
export type UpdatePostInput = $.InputType<$Schema, 'UpdatePostInput'>;

export type AuthorResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Author'] = ResolversParentTypes['Author']> = $.ResolversOf<$Schema, 'Author', ContextType, ParentType>;
export type CommentResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Comment'] = ResolversParentTypes['Comment']> = $.ResolversOf<$Schema, 'Comment', ContextType, ParentType>;
export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = $.ResolversOf<$Schema, 'Mutation', ContextType, ParentType>;
export type PostResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Post'] = ResolversParentTypes['Post']> = $.ResolversOf<$Schema, 'Post', ContextType, ParentType>;
export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = $.ResolversOf<$Schema, 'Query', ContextType, ParentType>;
export type TagResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Tag'] = ResolversParentTypes['Tag']> = $.ResolversOf<$Schema, 'Tag', ContextType, ParentType>;

export type Resolvers<ContextType = Context> = $.AllResolvers<$Schema, ContextType>;
