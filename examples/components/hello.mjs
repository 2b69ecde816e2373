// The README's first source: each request with {"name": "world"} becomes an event.
export default {
  name: "Hello",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  run(event) {
    this.$emit({ hello: event.body.name }, { summary: "said hello" });
  },
};
