import { graphql } from 'relay-runtime';

// Read by Relay's compiler, never run: what it makes of them is what the program runs.
export const documents = () => [
  graphql`
    query postsQuery($count: Int!) {
      author(id: "Author:1") {
        id
        ...postsOfAuthor @arguments(count: $count)
      }
    }
  `,

  graphql`
    fragment postsOfAuthor on Author @argumentDefinitions(count: { type: "Int", defaultValue: 2 }, cursor: { type: "String" }) @refetchable(queryName: "postsOfAuthorPageQuery") {
      id
      name
      posts(first: $count, after: $cursor) @connection(key: "postsOfAuthor_posts") {
        totalCount
        edges {
          node {
            id
            title
            ...postsCard
          }
        }
      }
    }
  `,

  graphql`
    fragment postsCard on Post @refetchable(queryName: "postsCardAgainQuery") {
      id
      title
      mood
      tags {
        id
        name
      }
    }
  `,

  graphql`
    mutation postsCreateMutation($input: CreatePostInput!, $connections: [ID!]!) {
      createPost(input: $input) {
        clientMutationId
        post @prependNode(connections: $connections, edgeTypeName: "PostEdge") {
          id
          title
          ...postsCard
        }
      }
    }
  `,

  graphql`
    mutation postsDeleteMutation($id: ID!, $connections: [ID!]!) {
      deletePost(id: $id) {
        ok
        deletedPostId @deleteEdge(connections: $connections)
      }
    }
  `,

  graphql`
    query postsFailingQuery {
      post(id: "Post:2") {
        id
        fragile
      }
    }
  `,

  graphql`
    subscription postsSubscription {
      postChanged {
        id
        title
      }
    }
  `,

  graphql`
    query postsCallerQuery {
      me {
        id
        email
      }
      viewer {
        me {
          id
        }
        ...postsFirst
      }
    }
  `,

  graphql`
    fragment postsFirst on Query {
      posts(first: 1) {
        posts {
          id
          title
        }
        edges {
          rank
        }
      }
    }
  `,

  graphql`
    mutation postsAddAuthorMutation($name: String!, $email: String!) {
      addAuthor(name: $name, email: $email) {
        __typename
        ... on Author {
          id
          name
        }
        ... on EmailTaken {
          message
          field
        }
        ... on InvalidAuthor {
          fields
        }
      }
    }
  `,
];
