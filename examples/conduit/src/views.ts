/** The GraphQL fields that an article in an answer is made of. */
export const ARTICLE = `slug title description body createdAt updatedAt favorited favoritesCount
  tags { name } author { username bio image following }`;

/** The GraphQL fields that a comment in an answer is made of. */
export const COMMENT = 'id body createdAt updatedAt author { username bio image following }';

interface Profile {
  readonly username: string;
  readonly bio: string | null;
  readonly image: string | null;
  readonly following: boolean;
}

export interface ArticleRead {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly favorited: boolean;
  readonly favoritesCount: number;
  readonly tags: readonly { readonly name: string }[];
  readonly author: Profile;
}

export interface CommentRead {
  readonly id: string;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly author: Profile;
}

export const toArticle = ({ tags, ...article }: ArticleRead) => ({
  ...article,
  tagList: tags.map(({ name }) => name),
});

/** A list leaves out the text of its articles. */
export function toListed(read: ArticleRead) {
  const { body: _, ...article } = toArticle(read);
  return article;
}

/** Ids of Conduit are numbers. */
export const toComment = (comment: CommentRead) => ({ ...comment, id: Number(comment.id) });
