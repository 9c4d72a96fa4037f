export default {
  framework: "@storybook/react-vite",
  stories: ["../src/*.stories.jsx"],
  addons: ["@storybook/addon-docs"],
  staticDirs: ["../public"],
};
