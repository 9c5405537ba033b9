swift package add-dependency <URL of this repository> --branch main
swift package add-target-dependency UseCase Books --package <package>
swift package add-target-dependency UseCaseHistory Books --package <package>
swift package add-target-dependency UseCaseTesting BooksTests --package <package>
