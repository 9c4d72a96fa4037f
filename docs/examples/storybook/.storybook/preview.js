import { understudy } from "understudy-sandbox/storybook";

export default { ...understudy(), tags: ["autodocs"] };
